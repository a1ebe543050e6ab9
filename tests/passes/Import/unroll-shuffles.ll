; A loop that shuffles a number word by word becomes straight code, in which the words are parts of the number. One of
; unknown length, and one whose word is no part of a local variable, stay.
;
; RUN: %opt -passes='adgen-unroll-shuffles' -S %s | %filecheck %s

; CHECK-LABEL: define double @words(
; CHECK-NOT:     alloca
; CHECK:         [[BITS:%.*]] = bitcast double %v to i64
; CHECK:         [[LOW:%.*]] = trunc i64 [[BITS]] to i32
; CHECK:         call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 [[LOW]], i32 %from, i32 31)
; CHECK:         lshr i64 {{.*}}, 32
; CHECK:         call i32 @llvm.nvvm.shfl.sync.idx.i32(
; CHECK-NOT:     br
; CHECK:         ret double
define double @words(double %v, i32 %from) {
entry:
  %a = alloca double
  store double %v, ptr %a
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %go = icmp ult i64 %k, 2
  br i1 %go, label %body, label %done
body:
  %at = getelementptr inbounds i32, ptr %a, i64 %k
  %word = load i32, ptr %at
  %got = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %word, i32 %from, i32 31)
  store i32 %got, ptr %at
  %next = add nuw nsw i64 %k, 1
  br label %head
done:
  %r = load double, ptr %a
  ret double %r
}

; CHECK-LABEL: define void @of_any_length(
; CHECK:         phi
define void @of_any_length(i64 %n, i32 %from) {
entry:
  %a = alloca [8 x i32]
  br label %body
body:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %at = getelementptr inbounds i32, ptr %a, i64 %k
  %word = load i32, ptr %at
  %got = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %word, i32 %from, i32 31)
  store i32 %got, ptr %at
  %next = add nuw nsw i64 %k, 1
  %go = icmp ult i64 %next, %n
  br i1 %go, label %body, label %done
done:
  ret void
}

; CHECK-LABEL: define i32 @of_memory(
; CHECK:         phi
define i32 @of_memory(ptr %a) {
entry:
  br label %body
body:
  %k = phi i32 [ 1, %entry ], [ %next, %body ]
  %word = load i32, ptr %a
  %got = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %word, i32 %k, i32 31)
  %next = shl i32 %k, 1
  %go = icmp ult i32 %next, 32
  br i1 %go, label %body, label %done
done:
  ret i32 %got
}

declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
