; Bits of floating point as integers: those that become floating point by a way that Enzyme does not see are refused, those that stay integers
; are hidden from it.
;
; RUN: %opt -passes=adgen-hide-float-bits -S %s 2>/dev/null | %filecheck %s
; RUN: %opt -passes=adgen-hide-float-bits,adgen-restore-float-bits -S %s 2>/dev/null | %filecheck %s --check-prefix=SHOWN
; RUN: %opt -passes=adgen-hide-float-bits -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED --implicit-check-not=adgen-refusal

target triple = "nvptx64-nvidia-cuda"

; A number of 16 bits that is stored as such, and a bucket.
; CHECK-LABEL: @adgen_body_stays(
; CHECK: [[BITS:%.*]] = call i32 @adgen_hidden_bits_f32(float %v)
; SHOWN-NOT: adgen_hidden
; SHOWN: bitcast float %v to i32
; SHOWN-NOT: adgen_hidden
; CHECK: lshr i32 [[BITS]], 16
; CHECK: [[WIDE:%.*]] = call i64 @adgen_hidden_bits_f64(double %d)
; CHECK: and i64 [[WIDE]], 255
define void @adgen_body_stays(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="8[0f8]" %y, ptr "adgen-layout"="2[0i2]" %out) {
  %v = load float, ptr %x
  %bits = bitcast float %v to i32
  %high = lshr i32 %bits, 16
  %short = trunc i32 %high to i16
  store i16 %short, ptr %out
  %d = load double, ptr %y
  %wide = bitcast double %d to i64
  %bucket = and i64 %wide, 255
  %at = getelementptr double, ptr %y, i64 %bucket
  store double 1.0, ptr %at
  ret void
}

; Bits that are read at once as an integer.
; CHECK-LABEL: @adgen_body_read(
; CHECK-NEXT: [[NUMBER:%.*]] = load float, ptr %x
; CHECK-NEXT: [[READ:%.*]] = call i32 @adgen_hidden_bits_f32(float [[NUMBER]])
; CHECK-NEXT: mul i32 [[READ]], 31
define void @adgen_body_read(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0i4]" %hashes) {
  %bits = load i32, ptr %x
  %hash = mul i32 %bits, 31
  store i32 %hash, ptr %hashes
  ret void
}

; What is only moved, compared, or becomes a number again is left alone.
; CHECK-LABEL: @adgen_body_left(
; CHECK-NOT: adgen_hidden_bits
; CHECK: ret void
define void @adgen_body_left(ptr "adgen-layout"="4[0f4]" %x) {
  %v = load float, ptr %x
  %bits = bitcast float %v to i32
  %positive = icmp sgt i32 %bits, 0
  %cleared = and i32 %bits, -65536
  %number = bitcast i32 %cleared to float
  %chosen = select i1 %positive, float %number, float %v
  store float %chosen, ptr %x
  ret void
}

; A power of two is a step, and so is a hash.
; CHECK-LABEL: @adgen_body_steps(
define void @adgen_body_steps(ptr "adgen-layout"="4[0f4]" %x) {
  %v = load float, ptr %x
  %whole = fptosi float %v to i32
  %biased = add i32 %whole, 127
  %exponent = shl i32 %biased, 23
  %power = bitcast i32 %exponent to float
  %mixed = mul i32 %whole, 1664525
  %shifted = lshr i32 %mixed, 9
  %hash = or i32 %shifted, 1065353216
  %random = bitcast i32 %hash to float
  %product = fmul float %power, %random
  store float %product, ptr %x
  ret void
}

; REFUSED: adgen-refusal: {{.*}}"reason":"cannot differentiate floating point whose bits were computed from a number as an integer"
define void @adgen_body_exponential(ptr "adgen-layout"="4[0f4]" %x) {
  %v = load float, ptr %x
  %scaled = fmul float %v, 0x4167154760000000
  %whole = fptosi float %scaled to i32
  %biased = add i32 %whole, 1065353216
  %number = bitcast i32 %biased to float
  store float %number, ptr %x
  ret void
}

; Keys in an array of integers, which come back; %counts holds integers alone.
; REFUSED: adgen-refusal: {{.*}}"reason":"cannot differentiate floating point that is kept as integers in memory"
define void @adgen_body_kept(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0i4]" %keys, ptr "adgen-layout"="4[0i4]" %counts) {
  %v = load float, ptr %x
  %bits = bitcast float %v to i32
  %key = xor i32 %bits, -2147483648
  store i32 %key, ptr %keys
  %count = load i32, ptr %counts
  %at = getelementptr i32, ptr %keys, i32 %count
  %other = load i32, ptr %at
  %back = xor i32 %other, -2147483648
  %number = bitcast i32 %back to float
  store float %number, ptr %x
  ret void
}

; Read at once as an integer, which is what it is counted with.
; REFUSED: adgen-refusal: {{.*}}"reason":"cannot differentiate floating point that is kept as integers in memory"
; REFUSED: adgen-refusal: {{.*}}"reason":"cannot differentiate floating point that is moved in parts"
define void @adgen_body_read_and_kept(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0i4]" %keys) {
  %bits = load i32, ptr %x
  %sign = ashr i32 %bits, 31
  %mask = or i32 %sign, -2147483648
  %key = xor i32 %bits, %mask
  store i32 %key, ptr %keys
  %other = load i32, ptr %keys
  %back = xor i32 %other, -2147483648
  %number = bitcast i32 %back to float
  store float %number, ptr %x
  ret void
}

; Half of a double of which nothing but integers is made is read by a function that Enzyme takes for inactive.
; CHECK-LABEL: @adgen_body_exponent(
; CHECK: [[PART:%.*]] = call i32 @adgen_part_of_number(ptr %high.at)
; CHECK-NEXT: and i32 [[PART]], 1048576
define void @adgen_body_exponent(ptr "adgen-layout"="8[0f8]" %x, ptr "adgen-layout"="4[0i4]" %out) {
  %high.at = getelementptr i8, ptr %x, i64 4
  %high = load i32, ptr %high.at
  %odd = and i32 %high, 1048576
  store i32 %odd, ptr %out
  ret void
}

; A double that is put together from halves that were read on their own.
define void @adgen_body_of_halves(ptr "adgen-layout"="8[0f8]" %x) {
  %high.at = getelementptr i8, ptr %x, i64 4
  %low = load i32, ptr %x
  %high = load i32, ptr %high.at
  %low.wide = zext i32 %low to i64
  %high.wide = zext i32 %high to i64
  %shifted = shl i64 %high.wide, 32
  %bits = or i64 %shifted, %low.wide
  %number = bitcast i64 %bits to double
  store double %number, ptr %x
  ret void
}

; What is rounded by adding a constant and taking it away again is a step, and so are the bits in between: whole numbers, 32 steps between two,
; and nothing of the kind.
; CHECK-LABEL: @adgen_body_rounded(
; CHECK: [[SHIFTED:%.*]] = fadd float %v, 0x4168000000000000
; CHECK: [[WHOLE:%.*]] = fsub float [[SHIFTED]], 0x4168000000000000
; CHECK: [[STEP:%.*]] = call float @adgen_hidden_bits_rounded_f32(float [[WHOLE]])
; CHECK: call i32 @adgen_hidden_bits_f32(float [[SHIFTED]])
; CHECK: fsub float %v, [[STEP]]
; CHECK: [[FINE:%.*]] = call double @llvm.fma.f64(double %d, double 3.000000e+00, double 0x42E8000000000000)
; CHECK: [[BACK:%.*]] = fadd double [[FINE]], 0xC2E8000000000000
; CHECK: call double @adgen_hidden_bits_rounded_f64(double [[BACK]])
; CHECK-NOT: adgen_hidden
; CHECK: ret void
; SHOWN-LABEL: @adgen_body_rounded(
; SHOWN: [[ALL:%.*]] = fsub float
; SHOWN: fsub float %v, [[ALL]]
define void @adgen_body_rounded(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="8[0f8]" %y, ptr "adgen-layout"="4[0i4]" %out) {
  %v = load float, ptr %x
  %shifted = fadd float %v, 0x4168000000000000
  %whole = fsub float %shifted, 0x4168000000000000
  %bits = bitcast float %shifted to i32
  store i32 %bits, ptr %out
  %rest = fsub float %v, %whole
  store float %rest, ptr %x
  %d = load double, ptr %y
  %fine = call double @llvm.fma.f64(double %d, double 3.0, double 0x42E8000000000000)
  %back = fadd double %fine, 0xC2E8000000000000
  %near = fadd double %d, 1.5
  %again = fsub double %near, 1.5
  %sum = fadd double %back, %again
  store double %sum, ptr %y
  ret void
}

declare double @llvm.fma.f64(double, double, double)

; Keys that are sorted in memory of the function's own stay integers; not where one becomes a number again.
; CHECK-LABEL: @adgen_body_sorted(
; CHECK:         call i32 @adgen_hidden_bits_f32(float
define void @adgen_body_sorted(float %a, ptr "adgen-layout"="4[0f4]" %y, i64 %n) {
  %keys = alloca [8 x i64]
  %bits = bitcast float %a to i32
  %wide = zext i32 %bits to i64
  %high = shl i64 %wide, 32
  %key = or i64 %high, 3
  %at = getelementptr i64, ptr %keys, i64 %n
  store i64 %key, ptr %at
  %other = getelementptr i64, ptr %keys, i64 1
  %found = load i64, ptr %at
  store i64 %found, ptr %other
  %place = and i64 %found, 7
  %to = getelementptr float, ptr %y, i64 %place
  store float %a, ptr %to
  ret void
}

; REFUSED: adgen-refusal: {{.*}}"reason":"cannot differentiate floating point that is kept as integers in memory"
define void @adgen_body_taken_back(float %a, ptr "adgen-layout"="4[0f4]" %y, i64 %n) {
  %keys = alloca [8 x i64]
  %bits = bitcast float %a to i32
  %wide = zext i32 %bits to i64
  %high = shl i64 %wide, 32
  %key = or i64 %high, 3
  %at = getelementptr i64, ptr %keys, i64 %n
  store i64 %key, ptr %at
  %found = load i64, ptr %keys
  %upper = lshr i64 %found, 32
  %narrow = trunc i64 %upper to i32
  %number = bitcast i32 %narrow to float
  store float %number, ptr %y
  ret void
}

; A depth above an index, in an array of integers, has no derivative. Not where the array may hold numbers.
; CHECK-LABEL: define void @adgen_body_above(
; CHECK:         [[Z:%.*]] = call float @adgen_hidden_bits_given_i32(i32 %narrow)
; CHECK-NEXT:    store float [[Z]], ptr %y
; CHECK-LABEL: define void @adgen_body_unknown(
; CHECK:         bitcast i32 %narrow to float
define void @adgen_body_above(ptr "adgen-layout"="8[0i8]" %keys, ptr "adgen-layout"="4[0f4]" %y) {
  %key = load i64, ptr %keys
  %upper = lshr i64 %key, 32
  %narrow = trunc i64 %upper to i32
  %z = bitcast i32 %narrow to float
  store float %z, ptr %y
  %index = and i64 %key, 1023
  %to = getelementptr float, ptr %y, i64 %index
  store float 1.0, ptr %to
  ret void
}
define void @adgen_body_unknown(ptr %keys, ptr "adgen-layout"="4[0f4]" %y) {
  %key = load i64, ptr %keys
  %upper = lshr i64 %key, 32
  %narrow = trunc i64 %upper to i32
  %z = bitcast i32 %narrow to float
  store float %z, ptr %y
  ret void
}

; Enzyme must know what the result is where its reverse sweep needs it.
; CHECK: declare "enzyme_type"="{[-1]:Integer}" i32 @adgen_hidden_bits_f32(float) [[HIDDEN:#[0-9]+]]
; CHECK: attributes [[HIDDEN]] = { nofree {{.*}}"enzyme_inactive" "enzyme_no_escaping_allocation" }
