; Bits that a mask of all bits or none chooses are a choice: of two values, of a swap by exclusive or, of the sign
; shifted through a word. Where something remains to be computed, or the mask is none of these, it stays.
;
; RUN: %opt -passes='adgen-raise-masks' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_one_of_two(
; CHECK-NEXT:    %p = bitcast
; CHECK-NEXT:    %q = bitcast
; CHECK:         [[R:%.*]] = select i1 %c, i32 %p, i32 %q
; CHECK-NEXT:    %n = bitcast i32 [[R]] to float
define void @adgen_body_one_of_two(ptr %x, float %a, float %b, i1 %c) {
  %p = bitcast float %a to i32
  %q = bitcast float %b to i32
  %m = select i1 %c, i32 -1, i32 0
  %k = and i32 %p, %m
  %not = xor i32 %m, -1
  %l = and i32 %q, %not
  %r = or i32 %k, %l
  %n = bitcast i32 %r to float
  store float %n, ptr %x
  ret void
}

; CHECK-LABEL: define void @adgen_body_swap(
; CHECK-NOT:     xor
; CHECK:         [[P:%.*]] = select i1 %c, i32 %q, i32 %p
; CHECK:         [[Q:%.*]] = select i1 %c, i32 %p, i32 %q
; CHECK:         bitcast i32 [[P]] to float
; CHECK:         bitcast i32 [[Q]] to float
define void @adgen_body_swap(ptr %x, ptr %y, float %a, float %b, i1 %c) {
  %p = bitcast float %a to i32
  %q = bitcast float %b to i32
  %m = sext i1 %c to i32
  %both = xor i32 %p, %q
  %t = and i32 %both, %m
  %r = xor i32 %p, %t
  %s = xor i32 %q, %t
  %n = bitcast i32 %r to float
  %o = bitcast i32 %s to float
  store float %n, ptr %x
  store float %o, ptr %y
  ret void
}

; CHECK-LABEL: define i32 @adgen_body_sign(
; CHECK:         [[C:%.*]] = icmp slt i32 %d, 0
; CHECK-NEXT:    [[R:%.*]] = select i1 [[C]], i32 %p, i32 0
; CHECK-NEXT:    ret i32 [[R]]
define i32 @adgen_body_sign(i32 %p, i32 %d) {
  %m = ashr i32 %d, 31
  %r = and i32 %p, %m
  ret i32 %r
}

; CHECK-LABEL: define i32 @adgen_body_both_signs(
; CHECK:         icmp sgt i32 %d, -1
; CHECK:         [[R:%.*]] = select i1 %{{.*}}, i32 {{%p, i32 7|7, i32 %p}}
; CHECK-NEXT:    ret i32 [[R]]
define i32 @adgen_body_both_signs(i32 %p, i32 %d) {
  %m = ashr i32 %d, 31
  %k = and i32 %m, %p
  %c = icmp sgt i32 %d, -1
  %l = select i1 %c, i32 7, i32 0
  %r = or i32 %l, %k
  ret i32 %r
}

; CHECK-LABEL: define i32 @adgen_body_others(
; CHECK:         and i32 %p, %low
; CHECK:         ashr i32 %p, 30
; CHECK:         xor i32
define i32 @adgen_body_others(i32 %p, i32 %q, i1 %c) {
  %low = select i1 %c, i32 255, i32 0
  %r = and i32 %p, %low
  %two = ashr i32 %p, 30
  %s = and i32 %q, %two
  %t = xor i32 %r, %s
  ret i32 %t
}

; CHECK-LABEL: define i32 @what_is_no_body(
; CHECK:         and i32 %p, %m
define i32 @what_is_no_body(i32 %p, i1 %c) {
  %m = sext i1 %c to i32
  %r = and i32 %p, %m
  ret i32 %r
}
