; Numbers of 16 bits that are shifted to floats, or made of them by rounding bits, are conversions; how a class rounds
; is known by what it makes of some numbers. Where 16 bits stay integers, or words are no floats, all stays as it is.
;
; RUN: %opt -passes='adgen-raise-halves' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_shifted(
; CHECK-NOT:     shl
; CHECK:         [[B:%.*]] = bitcast i16 %bits to bfloat
; CHECK:         [[F:%.*]] = fpext bfloat [[B]] to float
; CHECK:         %square = fmul float [[F]], [[F]]
; CHECK:         [[T:%.*]] = fptrunc float %square to bfloat
; CHECK:         [[I:%.*]] = bitcast bfloat [[T]] to i16
; CHECK:         store i16 [[I]], ptr %y
define void @adgen_body_shifted(ptr "adgen-layout"="2[0b2]" %x, ptr "adgen-layout"="2[0b2]" %y) {
  %bits = load i16, ptr %x
  %wide = zext i16 %bits to i32
  %up = shl nuw i32 %wide, 16
  %number = bitcast i32 %up to float
  %square = fmul float %number, %number
  %of = bitcast float %square to i32
  %upper = lshr i32 %of, 16
  %odd = and i32 %upper, 1
  %half = add i32 %of, 32767
  %rounded = add i32 %half, %odd
  %down = lshr i32 %rounded, 16
  %word = trunc i32 %down to i16
  store i16 %word, ptr %y
  ret void
}

; Cut off, it is the number and a step.
; CHECK-LABEL: define void @adgen_body_cut(
; CHECK:         [[H:%.*]] = call float @adgen_hidden_bits_rounded_f32(float %a)
; CHECK:         [[STEP:%.*]] = select i1
; CHECK:         [[SUM:%.*]] = fadd float %a, [[STEP]]
; CHECK:         fptrunc float [[SUM]] to bfloat
define void @adgen_body_cut(ptr "adgen-layout"="2[0b2]" %y, float %a) {
  %of = bitcast float %a to i32
  %down = lshr i32 %of, 16
  %word = trunc i32 %down to i16
  store i16 %word, ptr %y
  ret void
}

; Half, by arithmetic.
; CHECK-LABEL: define void @adgen_body_computed(
; CHECK:         [[H:%.*]] = bitcast i16 %bits to half
; CHECK:         [[F:%.*]] = fpext half [[H]] to float
; CHECK:         store float [[F]], ptr %y
define void @adgen_body_computed(ptr "adgen-layout"="2[0f2]" %x, ptr "adgen-layout"="4[0f4]" %y) {
  %bits = load i16, ptr %x
  %wide = zext i16 %bits to i32
  %w = shl nuw i32 %wide, 16
  %sign = and i32 %w, -2147483648
  %two = shl i32 %w, 1
  %fourth = lshr i32 %two, 4
  %biased = add nuw i32 %fourth, 1879048192
  %large = bitcast i32 %biased to float
  %normal = fmul float %large, 0x38F0000000000000
  %low = lshr i32 %two, 17
  %magic = or disjoint i32 %low, 1056964608
  %near = bitcast i32 %magic to float
  %small = fadd float %near, -5.000000e-01
  %tiny = icmp ult i32 %two, 134217728
  %normal.bits = bitcast float %normal to i32
  %small.bits = bitcast float %small to i32
  %size = select i1 %tiny, i32 %small.bits, i32 %normal.bits
  %all = or i32 %sign, %size
  %number = bitcast i32 %all to float
  store float %number, ptr %y
  ret void
}

; What a loop carries as the upper half of a word is a float.
; CHECK-LABEL: define void @adgen_body_carried(
; CHECK:         phi float [ 0.000000e+00, %entry ]
define void @adgen_body_carried(ptr "adgen-layout"="4[0f4]" %y, float %a, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %masked, %loop ]
  %number = bitcast i32 %s to float
  %sum = fadd float %number, %a
  %of = bitcast float %sum to i32
  %half = add i32 %of, 32768
  %masked = and i32 %half, -65536
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  store float %number, ptr %y
  ret void
}

; CHECK-LABEL: define void @adgen_body_integers(
; CHECK-NOT:     bfloat
; CHECK:         ret void
define void @adgen_body_integers(ptr "adgen-layout"="2[0i2]" %high, ptr "adgen-layout"="4[0i4]" %x, ptr "adgen-layout"="4[0f4]" %y, float %a) {
  %of = bitcast float %a to i32
  %half = add i32 %of, 32768
  %down = lshr i32 %half, 16
  %word = trunc i32 %down to i16
  store i16 %word, ptr %high
  %count = load i32, ptr %x
  %masked = and i32 %count, -65536
  %number = uitofp i32 %masked to float
  store float %number, ptr %y
  ret void
}

; A maximum that starts at one of two constants is chosen among numbers.
; CHECK-LABEL: define void @adgen_body_largest(
; CHECK:         select i1 %empty, half 0xH0000, half 0xHFC00
; CHECK:         [[MOST:%.*]] = phi half
; CHECK:         [[NUMBER:%.*]] = bitcast i16 %x.bits to half
; CHECK:         select i1 %larger, half [[NUMBER]], half [[MOST]]
; CHECK:         phi half
define void @adgen_body_largest(ptr "adgen-layout"="2[0f2]" %x, ptr "adgen-layout"="2[0f2]" %y, i1 %empty, i32 %n) {
entry:
  %start = select i1 %empty, i16 0, i16 -1024
  br i1 %empty, label %end, label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %most = phi i16 [ %start, %entry ], [ %kept, %loop ]
  %at = getelementptr half, ptr %x, i32 %i
  %x.bits = load i16, ptr %at
  %number = bitcast i16 %x.bits to half
  %before = bitcast i16 %most to half
  %larger = fcmp ogt half %number, %before
  %kept = select i1 %larger, i16 %x.bits, i16 %most
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  %found = phi i16 [ %start, %entry ], [ %kept, %loop ]
  store i16 %found, ptr %y
  ret void
}

; One of whose values is a count is an integer.
; CHECK-LABEL: define void @adgen_body_counted(
; CHECK:         select i1 %c, i16 %bits, i16 %count
define void @adgen_body_counted(ptr "adgen-layout"="2[0f2]" %x, ptr "adgen-layout"="2[0i2]" %y, i16 %count, i1 %c) {
  %bits = load i16, ptr %x
  %either = select i1 %c, i16 %bits, i16 %count
  store i16 %either, ptr %y
  ret void
}
