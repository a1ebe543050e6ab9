; A number whose last bits are set, cleared or increased is that number and a difference that has no derivative. Bits that
; come in another way, that are cleared alone, or that may be of the exponent are left.
;
; RUN: %opt -passes=adgen-hide-float-bits -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_chosen(
; CHECK: call i32 @adgen_hidden_bits_f32(float %v)
; CHECK: [[HELD:%.*]] = call i32 @adgen_hidden_bits_f32(float %v)
; CHECK-NEXT: [[SAME:%.*]] = call float @adgen_{{.*}}rounded_f32(float %v)
; CHECK: [[CLEARED:%.*]] = and i32 [[HELD]], -65536
; CHECK: [[SET:%.*]] = or {{.*}}i32 %noise, [[CLEARED]]
; CHECK: [[ROUNDED:%.*]] = bitcast i32 [[SET]] to float
; CHECK: [[BY:%.*]] = fsub float [[ROUNDED]], [[SAME]]
; CHECK: [[SUM:%.*]] = fadd float %v, [[BY]]
; CHECK: store float [[SUM]], ptr %y
define void @adgen_body_chosen(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y, i1 %c) {
  %v = load float, ptr %x
  %bits = bitcast float %v to i32
  %noise = select i1 %c, i32 65535, i32 0
  %cleared = and i32 %bits, -65536
  %set = or disjoint i32 %noise, %cleared
  %rounded = bitcast i32 %set to float
  store float %rounded, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_increased(
; CHECK: fadd float %v
define void @adgen_body_increased(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y, i32 %random) {
  %v = load float, ptr %x
  %bits = bitcast float %v to i32
  %some = and i32 %random, 65535
  %more = add i32 %bits, %some
  %cleared = and i32 %more, -65536
  %rounded = bitcast i32 %cleared to float
  store float %rounded, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_upper(
; CHECK: call float @adgen_hidden_bits_rounded_f32(float %v)
; CHECK: [[MORE:%.*]] = add i32 {{%.*}}, %some
; CHECK: [[CUT:%.*]] = and i32 [[MORE]], -65536
; CHECK: [[WHOLE:%.*]] = bitcast i32 [[CUT]] to float
; CHECK: [[SUM:%.*]] = fadd float %v
; CHECK: fptrunc float [[SUM]] to bfloat
define void @adgen_body_upper(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="2[0b2]" %y, i32 %random) {
  %v = load float, ptr %x
  %bits = bitcast float %v to i32
  %some = and i32 %random, 65535
  %more = add i32 %bits, %some
  %upper = lshr i32 %more, 16
  %half = trunc i32 %upper to i16
  %rounded = bitcast i16 %half to bfloat
  store bfloat %rounded, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_left(
; CHECK-NOT: fadd
; CHECK: ret void
define void @adgen_body_left(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y, i32 %random, i1 %c) {
  %v = load float, ptr %x
  %bits = bitcast float %v to i32
  %cleared = and i32 %bits, -65536
  %shorter = bitcast i32 %cleared to float
  store float %shorter, ptr %y
  %any = or i32 %bits, %random
  %unknown = bitcast i32 %any to float
  store float %unknown, ptr %y
  %other = select i1 %c, i32 %bits, i32 %random
  %either = bitcast i32 %other to float
  store float %either, ptr %y
  ret void
}
