; A shared array of words of 16 bits that is filled with pairs of bfloat16 and read as integers that are taken apart into
; such numbers holds bfloat16. It does not where the pairs are of another kind, or come as a float.
;
; RUN: %opt -passes=adgen-type-copies -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_pairs(
; CHECK-SAME:    ptr "adgen-layout"="2[0b2]" %tile
; CHECK:         %[[MOVED:.*]] = load <2 x bfloat>, ptr %x
; CHECK:         store <2 x bfloat> %[[MOVED]], ptr %tile
; CHECK:         load <2 x bfloat>, ptr %at
; CHECK-NOT:     lshr
define void @adgen_body_pairs(ptr "adgen-layout"="2[0b2]" %x, ptr "adgen-layout"="4[0f4]" %y, ptr "adgen-layout"="2[0i2]" %tile) "adgen-shared"="tile" {
  %pair = load i32, ptr %x
  store i32 %pair, ptr %tile
  %at = getelementptr i8, ptr %tile, i64 4
  %read = load i32, ptr %at
  %low = trunc i32 %read to i16
  %shifted = lshr i32 %read, 16
  %high = trunc i32 %shifted to i16
  %first = bitcast i16 %low to bfloat
  %second = bitcast i16 %high to bfloat
  %product = fmul bfloat %first, %second
  %wide = fpext bfloat %product to float
  store float %wide, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_others(
; CHECK-SAME:    ptr "adgen-layout"="2[0i2]" %tile
define void @adgen_body_others(ptr "adgen-layout"="2[0f2]" %x, ptr "adgen-layout"="4[0f4]" %y, ptr "adgen-layout"="2[0i2]" %tile) "adgen-shared"="tile" {
  %pair = load i32, ptr %x
  store i32 %pair, ptr %tile
  %read = load i32, ptr %tile
  %low = trunc i32 %read to i16
  %first = bitcast i16 %low to bfloat
  %wide = fpext bfloat %first to float
  store float %wide, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_floats(
; CHECK-SAME:    ptr "adgen-layout"="2[0i2]" %tile
define void @adgen_body_floats(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y, ptr "adgen-layout"="2[0i2]" %tile) "adgen-shared"="tile" {
  %whole = load i32, ptr %x
  store i32 %whole, ptr %tile
  %read = load i32, ptr %tile
  %shifted = lshr i32 %read, 16
  %high = trunc i32 %shifted to i16
  %first = bitcast i16 %high to bfloat
  %wide = fpext bfloat %first to float
  store float %wide, ptr %y
  ret void
}
