; Calls of mathematics say which function does the same for a whole register; loops with them are then vectorised.
;
; RUN: %opt -passes='adgen-vector-math<256>' -S %s | %filecheck %s --check-prefixes=CHECK,WIDE
; RUN: %opt -passes='adgen-vector-math<128>' -S %s | %filecheck %s --check-prefixes=CHECK,NARROW
; RUN: %opt -mcpu=x86-64-v3 -passes='adgen-vector-math<256>,default<O3>' -S %s | %filecheck %s --check-prefix=LOOP

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @each(
; CHECK: call float @expf(float {{.*}}) #[[EXP:[0-9]+]]
; LOOP-LABEL: define void @each(
; LOOP: call <8 x float> @_ZGVdN8v_expf(<8 x float>
define void @each(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %from
  %e = call float @expf(float %v)
  %to = getelementptr float, ptr %y, i64 %i
  store float %e, ptr %to
  %next = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define double @others(
; CHECK: call double @pow(double %a, double %b) #[[POW:[0-9]+]]
; Whatever the library does not have, or a function of the user's by such a name, stays as it is.
; CHECK: call double @lgamma(double %a){{$}}
; CHECK: call double @sin(double %a, i32 1){{$}}
; CHECK: call float @cosf(float %c){{$}}
define double @others(double %a, double %b, float %c) {
  %p = call double @pow(double %a, double %b)
  %l = call double @lgamma(double %a)
  %s = call double @sin(double %a, i32 1)
  %k = call float @cosf(float %c)
  %one = fadd double %p, %l
  %two = fadd double %one, %s
  %wide = fpext float %k to double
  %sum = fadd double %two, %wide
  ret double %sum
}

define float @cosf(float %x) noinline {
  ret float %x
}

; WIDE: attributes #[[EXP]] = { "vector-function-abi-variant"="_ZGV_LLVM_N4v_expf(_ZGVbN4v_expf),_ZGV_LLVM_N8v_expf(_ZGVdN8v_expf)" }
; WIDE: attributes #[[POW]] = { "vector-function-abi-variant"="_ZGV_LLVM_N2vv_pow(_ZGVbN2vv_pow),_ZGV_LLVM_N4vv_pow(_ZGVdN4vv_pow)" }
; NARROW: attributes #[[EXP]] = { "vector-function-abi-variant"="_ZGV_LLVM_N4v_expf(_ZGVbN4v_expf)" }
; NARROW: attributes #[[POW]] = { "vector-function-abi-variant"="_ZGV_LLVM_N2vv_pow(_ZGVbN2vv_pow)" }

declare float @expf(float) nounwind willreturn memory(none)
declare double @pow(double, double) nounwind willreturn memory(none)
declare double @lgamma(double) nounwind willreturn memory(none)
declare double @sin(double, i32) nounwind willreturn memory(none)
