; Of two equal numbers the smaller one is the one that the larger one is not, also where they are read again. Not where
; only one of the two is taken, by one thread or another.
;
; RUN: %opt -passes=adgen-settle-pairs,verify -S %s | %filecheck %s

declare double @llvm.maxnum.f64(double, double)
declare double @llvm.minnum.f64(double, double)

; As fmaxf and fminf have it.
; CHECK-LABEL: define void @adgen_body_both(
; CHECK:         %larger = select i1 %takes, float %x, float %y
; CHECK:         [[LESS:%.*]] = fcmp olt float %x2, %y2
; CHECK-NEXT:    [[OR:%.*]] = select i1 [[LESS]], i1 true, i1 %none2
; CHECK-NEXT:    %smaller = select i1 [[OR]], float %x2, float %y2
define void @adgen_body_both(ptr %a, ptr %b, ptr %hi, ptr %lo) {
  %x = load float, ptr %a
  %y = load float, ptr %b
  %more = fcmp oge float %x, %y
  %none = fcmp uno float %y, 0.0
  %takes = or i1 %more, %none
  %larger = select nsz i1 %takes, float %x, float %y
  store float %larger, ptr %hi
  %x2 = load float, ptr %a
  %y2 = load float, ptr %b
  %less = fcmp ole float %x2, %y2
  %none2 = fcmp uno float %y2, 0.0
  %takes2 = or i1 %less, %none2
  %smaller = select i1 %takes2, float %x2, float %y2
  store float %smaller, ptr %lo
  ret void
}

; An index that goes with the number stays the user's.
; CHECK-LABEL: define i32 @adgen_body_index(
; CHECK:         %less = fcmp olt float %x, %y
; CHECK:         [[TAKES:%.*]] = fcmp ole float %x, %y
; CHECK-NEXT:    %smaller = select i1 [[TAKES]], float %x, float %y
; CHECK-NEXT:    %index = select i1 %less, i32 0, i32 1
define i32 @adgen_body_index(float %x, float %y, ptr %to) {
  %more = fcmp ogt float %x, %y
  %larger = select i1 %more, float %x, float %y
  %less = fcmp olt float %x, %y
  %smaller = select i1 %less, float %x, float %y
  %index = select i1 %less, i32 0, i32 1
  %spread = fsub float %larger, %smaller
  store float %spread, ptr %to
  ret i32 %index
}

; CHECK-LABEL: define double @adgen_body_operations(
; CHECK:         [[MORE:%.*]] = call double @llvm.maxnum.f64(double %x, double %y)
; CHECK-NEXT:    [[SAME:%.*]] = fcmp oeq double %x, %y
; CHECK-NEXT:    [[LARGER:%.*]] = select i1 [[SAME]], double %x, double [[MORE]]
; CHECK:         [[LESS:%.*]] = call double @llvm.minnum.f64(double %y, double %x)
; CHECK-NEXT:    [[AGAIN:%.*]] = fcmp oeq double %y, %x
; CHECK-NEXT:    [[SMALLER:%.*]] = select i1 [[AGAIN]], double %y, double [[LESS]]
; CHECK:         fmul double [[LARGER]], [[SMALLER]]
define double @adgen_body_operations(double %x, double %y) {
  %more = call double @llvm.maxnum.f64(double %x, double %y)
  %less = call double @llvm.minnum.f64(double %y, double %x)
  %both = fmul double %more, %less
  ret double %both
}

; CHECK-LABEL: define float @adgen_body_either(
; CHECK:         %less = fcmp olt float %own, %other
; CHECK-NEXT:    %smaller = select i1 %less, float %own, float %other
define float @adgen_body_either(float %own, float %other, i1 %first) {
  %more = fcmp ogt float %own, %other
  %larger = select i1 %more, float %own, float %other
  %less = fcmp olt float %own, %other
  %smaller = select i1 %less, float %own, float %other
  %kept = select i1 %first, float %smaller, float %larger
  ret float %kept
}
