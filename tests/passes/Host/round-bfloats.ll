; Numbers are rounded to bfloat16 by integers, and blocks pass their bits to each other: the back end calls nothing.
;
; RUN: %opt -passes=adgen-round-bfloats -S %s | %filecheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; To the nearest, in ties to the even one; a NaN stays one whatever its lower bits are.
; CHECK-LABEL: define bfloat @rounded(
; CHECK: [[BITS:%.*]] = bitcast float %x to i32
; CHECK: [[UPPER:%.*]] = lshr i32 [[BITS]], 16
; CHECK: [[ODD:%.*]] = and i32 [[UPPER]], 1
; CHECK: [[BIAS:%.*]] = add i32 [[ODD]], 32767
; CHECK: [[NEAREST:%.*]] = add i32 [[BITS]], [[BIAS]]
; CHECK: [[QUIET:%.*]] = or i32 [[BITS]], 4194304
; CHECK: [[NAN:%.*]] = fcmp uno float %x, %x
; CHECK: [[CHOSEN:%.*]] = select i1 [[NAN]], i32 [[QUIET]], i32 [[NEAREST]]
; CHECK: [[HIGH:%.*]] = lshr i32 [[CHOSEN]], 16
; CHECK: [[HALF:%.*]] = trunc i32 [[HIGH]] to i16
; CHECK: bitcast i16 [[HALF]] to bfloat
; CHECK-NOT: fptrunc
define bfloat @rounded(float %x) {
  %r = fptrunc nnan float %x to bfloat
  ret bfloat %r
}

; A double is not rounded twice.
; CHECK-LABEL: define bfloat @of_double(
; CHECK: fptrunc double %x to bfloat
define bfloat @of_double(double %x) {
  %r = fptrunc double %x to bfloat
  ret bfloat %r
}

; CHECK-LABEL: define <2 x bfloat> @sums(
; CHECK: [[X:%.*]] = fpext <2 x bfloat> %x to <2 x float>
; CHECK: [[Y:%.*]] = fpext <2 x bfloat> %y to <2 x float>
; CHECK: [[SUM:%.*]] = fadd nsz <2 x float> [[X]], [[Y]]
; CHECK: bitcast <2 x float> [[SUM]] to <2 x i32>
; CHECK-NOT: fadd {{.*}}bfloat
; CHECK: ret
define <2 x bfloat> @sums(<2 x bfloat> %x, <2 x bfloat> %y) {
  %s = fadd nsz <2 x bfloat> %x, %y
  ret <2 x bfloat> %s
}

; CHECK-LABEL: define void @blocks(
; CHECK: entry:
; CHECK: %x = load bfloat, ptr %p
; CHECK: [[KEPT:%.*]] = bitcast bfloat %x to i16
; CHECK: [[FROM_ENTRY:%.*]] = bitcast bfloat %x to i16
; CHECK: loop:
; CHECK: [[PHI:%.*]] = phi i16 [ [[FROM_ENTRY]], %entry ], [ [[FROM_LOOP:%.*]], %loop ]
; CHECK: [[FROM_LOOP]] = bitcast bfloat {{.*}} to i16
; CHECK: end:
; CHECK: bitcast i16 [[KEPT]] to bfloat
define void @blocks(ptr %p, i1 %again) {
entry:
  %x = load bfloat, ptr %p
  br label %loop
loop:
  %v = phi bfloat [ %x, %entry ], [ %s, %loop ]
  %s = fadd bfloat %v, 1.0
  br i1 %again, label %loop, label %end
end:
  store bfloat %x, ptr %p
  ret void
}
