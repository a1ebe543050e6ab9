; A variable that each thread has becomes an array, of which a thread takes the element with its number; one that is
; too large stays, and so does one in a region that a thread of another one starts.
;
; RUN: %opt -passes='adgen-number-thread-locals' -S %s | %filecheck %s

; CHECK-DAG: @own_of_threads = internal global [513 x [4 x double]] zeroinitializer, align 64
; CHECK-DAG: @seed_of_threads = internal global [513 x i32] [i32 7, i32 7,
; CHECK-DAG: @large = internal thread_local global
; CHECK-DAG: @nested = internal thread_local global
; CHECK-NOT: @large_of_threads
; CHECK-NOT: @nested_of_threads
@own = internal thread_local global [4 x double] zeroinitializer, align 16
@seed = thread_local global i32 7, align 4
@nested = internal thread_local global double 0.0, align 8
@large = internal thread_local global [1000000 x double] zeroinitializer, align 16

; CHECK-LABEL: define double @f(
; CHECK:         %[[NUMBER:.*]] = call i32 @omp_get_thread_num()
; CHECK-NEXT:    %[[WITHIN:.*]] = call i32 @adgen_omp_number_within(i32 %[[NUMBER]], i32 512)
; CHECK-NEXT:    %[[AT:.*]] = zext i32 %[[WITHIN]] to i64
; CHECK-NEXT:    %[[MINE:.*]] = getelementptr inbounds [513 x [4 x double]], ptr @own_of_threads, i64 0, i64 %[[AT]]
; CHECK-NEXT:    load double, ptr %[[MINE]]
; CHECK:         getelementptr inbounds [513 x i32], ptr @seed_of_threads
; CHECK:         getelementptr inbounds [513 x i32], ptr @seed_of_threads
; CHECK:         store i32 %{{.*}}, ptr
; CHECK:         call ptr @llvm.threadlocal.address.p0(ptr @large)
define double @f() {
  %own = call ptr @llvm.threadlocal.address.p0(ptr @own)
  %x = load double, ptr %own
  %seed = call ptr @llvm.threadlocal.address.p0(ptr @seed)
  %s = load i32, ptr %seed
  store i32 %s, ptr @seed
  %large = call ptr @llvm.threadlocal.address.p0(ptr @large)
  %y = load double, ptr %large
  %xy = fmul double %x, %y
  ret double %xy
}

define void @starts() {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @outer)
  ret void
}

define internal void @outer(ptr %thread, ptr %bound) {
  %x = call double @f()
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @inner)
  ret void
}

define internal void @inner(ptr %thread, ptr %bound) {
  %nested = call ptr @llvm.threadlocal.address.p0(ptr @nested)
  store double 0.0, ptr %nested
  ret void
}

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare ptr @llvm.threadlocal.address.p0(ptr)
