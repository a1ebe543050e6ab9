; What one of two ways reads and then writes over is what was there, also in loops that are vectorised: without the
; plugin, LLVM's optimiser reads it behind the store.
;
; RUN: %opt -passes='default<O3>' -mcpu=x86-64-v3 -S %s | %filecheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define {{.*}}@consumed(
; CHECK:       vector.body:
; CHECK:       fadd
; CHECK-NEXT:  [[READ:%wide[^ ]*]] = tail call <8 x float> @llvm.masked.load{{.*}} [[MASK:%[0-9]+]], <8 x float> poison)
; CHECK-NEXT:  [[HELD:%[0-9]+]] = freeze <8 x float> [[READ]]
; CHECK-NEXT:  call void @llvm.masked.store{{.*}}(<8 x float> zeroinitializer, {{.*}} [[MASK]])
; CHECK-NEXT:  select <8 x i1> [[MASK]], <8 x float> [[HELD]],
define void @consumed(ptr noalias %keys, ptr noalias %x, ptr noalias %y, ptr noalias %cotangents, ptr noalias %shadows, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %key.at = getelementptr inbounds i32, ptr %keys, i64 %i
  %key = load i32, ptr %key.at
  %x.at = getelementptr inbounds float, ptr %x, i64 %i
  %number = load float, ptr %x.at
  %y.at = getelementptr inbounds float, ptr %y, i64 %i
  %is = icmp eq i32 %key, 0
  br i1 %is, label %plain, label %squared

plain:
  %own = getelementptr inbounds float, ptr %cotangents, i64 %i
  %whole = load float, ptr %own
  store float 0.0, ptr %own
  br label %end

squared:
  store float %number, ptr %y.at
  %same = getelementptr inbounds float, ptr %cotangents, i64 %i
  %half = load float, ptr %same
  store float 0.0, ptr %same
  %part = fmul float %number, %half
  %both = fadd float %part, %part
  br label %end

end:
  %cotangent = phi float [ %whole, %plain ], [ %both, %squared ]
  %shadow.at = getelementptr inbounds float, ptr %shadows, i64 %i
  %shadow = load float, ptr %shadow.at
  %sum = fadd float %shadow, %cotangent
  store float %sum, ptr %shadow.at
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop

exit:
  ret void
}
