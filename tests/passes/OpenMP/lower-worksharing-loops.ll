; What a thread gets of a loop is computed from its number. A static schedule is the runtime's, with the rest dealt to the first
; threads; chunks that were to be handed out are dealt round, and a loop with an ordered part is thread 0's.
;
; RUN: %opt -passes='adgen-lower-worksharing-loops,function(instcombine<no-verify-fixpoint>)' -S %s | %filecheck %s --implicit-check-not='call {{.*}}kmpc'

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @static(
; CHECK:         call i32 @omp_get_thread_num()
; CHECK:         call i32 @omp_get_num_threads()
; CHECK:         udiv i64
; CHECK:         call i64 @llvm.smin.i64
; CHECK:         store i32 {{.*}}, ptr %lower
; CHECK:         store i32 {{.*}}, ptr %upper
; CHECK:         store i32 {{.*}}, ptr %stride
; CHECK:         store i32 {{.*}}, ptr %last
define void @static(ptr %last, ptr %lower, ptr %upper, ptr %stride) {
  call void @__kmpc_for_static_init_4(ptr null, i32 0, i32 34, ptr %last, ptr %lower, ptr %upper, ptr %stride, i32 1, i32 1)
  call void @__kmpc_for_static_fini(ptr null, i32 0)
  ret void
}

; The lower bound moves by the chunk times the thread's number, and then by the chunk times their number.
; CHECK-LABEL: define void @chunks(
; CHECK-DAG:     %[[LOWER:.*]] = load i64, ptr %lower
; CHECK-DAG:     %[[THREAD:.*]] = zext i32 %{{.*}} to i64
; CHECK:         %[[MINE:.*]] = mul nuw nsw i64 %[[THREAD]], 5
; CHECK:         %[[STRIDE:.*]] = mul nuw nsw i64 %{{.*}}, 5
; CHECK:         %[[FIRST:.*]] = add i64 %[[LOWER]], %[[MINE]]
; CHECK:         store i64 %[[FIRST]], ptr %lower
; CHECK:         %[[UPPER:.*]] = add i64 %[[FIRST]], 4
; CHECK:         store i64 %[[UPPER]], ptr %upper
; CHECK:         store i64 %[[STRIDE]], ptr %stride
define void @chunks(ptr %last, ptr %lower, ptr %upper, ptr %stride) {
  call void @__kmpc_for_static_init_8(ptr null, i32 0, i32 33, ptr %last, ptr %lower, ptr %upper, ptr %stride, i64 1, i64 5)
  ret void
}

; Rounds are counted from 0, so that the number of iterations is known before the loop.
; CHECK-LABEL: define void @dynamic(
; CHECK:       again:
; CHECK:         %[[ROUND:.*]] = load i64, ptr %round
; CHECK:         %[[ROUNDS:.*]] = load i64, ptr %rounds
; CHECK:         %[[MORE:.*]] = icmp slt i64 %[[ROUND]], %[[ROUNDS]]
; CHECK:         br i1 %[[MORE]], label %body, label %end
; What the chunk is follows from the round alone, behind the question whether there is one.
; CHECK:       body:
; CHECK:         %[[AGAIN:.*]] = load i64, ptr %round
; CHECK:         store i32 %{{.*}}, ptr %from
; CHECK:         %[[NEXT:.*]] = add i64 %[[AGAIN]], 1
; CHECK:         store i64 %[[NEXT]], ptr %round
define void @dynamic(i32 %upper, ptr %last, ptr %from, ptr %to, ptr %stride) {
  call void @__kmpc_dispatch_init_4(ptr null, i32 0, i32 1073741859, i32 0, i32 %upper, i32 1, i32 2)
  br label %again
again:
  %more = call i32 @__kmpc_dispatch_next_4(ptr null, i32 0, ptr %last, ptr %from, ptr %to, ptr %stride)
  %is = icmp ne i32 %more, 0
  br i1 %is, label %body, label %end
body:
  br label %again
end:
  call void @__kmpc_dispatch_deinit(ptr null, i32 0)
  ret void
}

; A chunk as wide as the loop: only the first thread finds anything.
; CHECK-LABEL: define void @ordered(
; CHECK:         %[[COUNT:.*]] = add i64 %upper, 1
; CHECK:         %[[WIDTH:.*]] = call i64 @llvm.smax.i64(i64 %[[COUNT]], i64 1)
; CHECK:         mul i64 %[[WIDTH]], %{{.*}}
; CHECK:         udiv i64 %{{.*}}, %[[WIDTH]]
define void @ordered(i64 %upper, ptr %last, ptr %from, ptr %to, ptr %stride) {
  call void @__kmpc_dispatch_init_8(ptr null, i32 0, i32 66, i64 0, i64 %upper, i64 1, i64 1)
  %more = call i32 @__kmpc_dispatch_next_8(ptr null, i32 0, ptr %last, ptr %from, ptr %to, ptr %stride)
  call void @__kmpc_dispatch_fini_8(ptr null, i32 0)
  ret void
}

declare void @__kmpc_for_static_init_4(ptr, i32, i32, ptr, ptr, ptr, ptr, i32, i32)
declare void @__kmpc_for_static_init_8(ptr, i32, i32, ptr, ptr, ptr, ptr, i64, i64)
declare void @__kmpc_for_static_fini(ptr, i32)
declare void @__kmpc_dispatch_init_4(ptr, i32, i32, i32, i32, i32, i32)
declare i32 @__kmpc_dispatch_next_4(ptr, i32, ptr, ptr, ptr, ptr)
declare void @__kmpc_dispatch_init_8(ptr, i32, i32, i64, i64, i64, i64)
declare i32 @__kmpc_dispatch_next_8(ptr, i32, ptr, ptr, ptr, ptr)
declare void @__kmpc_dispatch_fini_8(ptr, i32)
declare void @__kmpc_dispatch_deinit(ptr, i32)
