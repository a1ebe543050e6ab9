; Sums made of compare-and-swap become atomic additions, in each form in which people write them; what else is made in that way stays.
;
; RUN: %opt -passes='adgen-raise-atomic-adds,simplifycfg,dce' -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_guide(
; CHECK:         %[[VALUE:.*]] = fmul double
; CHECK:         atomicrmw fadd ptr %sum, double %[[VALUE]] seq_cst
; CHECK-NOT:     cmpxchg
; CHECK:         ret void
define void @adgen_body_guide(ptr %sum, double %v) {
entry:
  %value = fmul double %v, %v
  %first = load i64, ptr %sum
  br label %try
try:
  %old = phi i64 [ %first, %entry ], [ %found, %try ]
  %number = bitcast i64 %old to double
  %new = fadd double %value, %number
  %bits = bitcast double %new to i64
  %pair = cmpxchg ptr %sum, i64 %old, i64 %bits seq_cst seq_cst
  %found = extractvalue { i64, i1 } %pair, 0
  %failed = icmp ne i64 %old, %found
  br i1 %failed, label %try, label %done
done:
  ret void
}

; The value before, which the function returns, is the addition's. A difference is the sum with the negative.
; CHECK-LABEL: define float @returns(
; CHECK:         %[[NEGATIVE:.*]] = fneg float %v
; CHECK:         %[[OLD:.*]] = atomicrmw fadd ptr %sum, float %[[NEGATIVE]]
; CHECK:         ret float %[[OLD]]
define float @returns(ptr %sum, float %v) {
entry:
  br label %try
try:
  %before = load volatile float, ptr %sum
  %expected = bitcast float %before to i32
  %new = fsub float %before, %v
  %bits = bitcast float %new to i32
  %pair = cmpxchg ptr %sum, i32 %expected, i32 %bits seq_cst seq_cst
  %made = extractvalue { i32, i1 } %pair, 1
  br i1 %made, label %done, label %try
done:
  ret float %before
}

; What is added is read in the loop, from memory that the loop does not change.
; CHECK-LABEL: define void @adgen_body_reads(
; CHECK:         %[[READ:.*]] = load float, ptr %x
; CHECK:         atomicrmw fadd ptr %sum, float %[[READ]]
define void @adgen_body_reads(ptr %sum, ptr %x) {
entry:
  br label %try
try:
  %old = phi float [ 0.0, %entry ], [ %number, %try ]
  %value = load float, ptr %x
  %new = fadd float %old, %value
  %expected = bitcast float %old to i32
  %bits = bitcast float %new to i32
  %pair = cmpxchg ptr %sum, i32 %expected, i32 %bits seq_cst seq_cst
  %found = extractvalue { i32, i1 } %pair, 0
  %number = bitcast i32 %found to float
  %failed = fcmp une float %old, %number
  br i1 %failed, label %try, label %done
done:
  ret void
}

; What is added depends on what was found: no sum.
; CHECK-LABEL: define void @adgen_body_product(
; CHECK-NOT:     atomicrmw
; CHECK:         cmpxchg
define void @adgen_body_product(ptr %sum, float %v) {
entry:
  br label %try
try:
  %old = phi i32 [ 0, %entry ], [ %found, %try ]
  %number = bitcast i32 %old to float
  %scaled = fmul float %number, %v
  %new = fadd float %number, %scaled
  %bits = bitcast float %new to i32
  %pair = cmpxchg ptr %sum, i32 %old, i32 %bits seq_cst seq_cst
  %found = extractvalue { i32, i1 } %pair, 0
  %failed = icmp ne i32 %old, %found
  br i1 %failed, label %try, label %done
done:
  ret void
}

; Tried once: where it fails, nothing is added.
; CHECK-LABEL: define i1 @adgen_body_once(
; CHECK-NOT:     atomicrmw
; CHECK:         cmpxchg
define i1 @adgen_body_once(ptr %sum, float %v, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %old = load i32, ptr %sum
  %number = bitcast i32 %old to float
  %new = fadd float %number, %v
  %bits = bitcast float %new to i32
  %pair = cmpxchg ptr %sum, i32 %old, i32 %bits seq_cst seq_cst
  %made = extractvalue { i32, i1 } %pair, 1
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i1 %made
}

; An atomic subtraction, which OpenMP in C++ has.
; CHECK-LABEL: define void @adgen_body_subtracts(
; CHECK:         %[[NEGATIVE:.*]] = fneg double %v
; CHECK:         atomicrmw fadd ptr %sum, double %[[NEGATIVE]] monotonic
; CHECK-NOT:     fsub
define void @adgen_body_subtracts(ptr %sum, double %v) {
  %old = atomicrmw fsub ptr %sum, double %v monotonic
  ret void
}

; A product that is added in one step.
; CHECK-LABEL: define void @adgen_body_fused(
; CHECK:         %[[PRODUCT:.*]] = fmul float %a, %v
; CHECK:         atomicrmw fadd ptr %sum, float %[[PRODUCT]] seq_cst
; CHECK-NOT:     cmpxchg
define void @adgen_body_fused(ptr %sum, float %a, float %v) {
entry:
  %first = load i32, ptr %sum
  br label %try
try:
  %old = phi i32 [ %first, %entry ], [ %found, %try ]
  %number = bitcast i32 %old to float
  %new = call float @llvm.fma.f32(float %a, float %v, float %number)
  %bits = bitcast float %new to i32
  %pair = cmpxchg ptr %sum, i32 %old, i32 %bits seq_cst seq_cst
  %found = extractvalue { i32, i1 } %pair, 0
  %failed = icmp ne i32 %old, %found
  br i1 %failed, label %try, label %done
done:
  ret void
}

; What is multiplied depends on what was found: no sum.
; CHECK-LABEL: define void @adgen_body_fused_product(
; CHECK-NOT:     atomicrmw
; CHECK:         cmpxchg
define void @adgen_body_fused_product(ptr %sum, float %v) {
entry:
  br label %try
try:
  %old = phi i32 [ 0, %entry ], [ %found, %try ]
  %number = bitcast i32 %old to float
  %new = call float @llvm.fma.f32(float %v, float %number, float %number)
  %bits = bitcast float %new to i32
  %pair = cmpxchg ptr %sum, i32 %old, i32 %bits seq_cst seq_cst
  %found = extractvalue { i32, i1 } %pair, 0
  %failed = icmp ne i32 %old, %found
  br i1 %failed, label %try, label %done
done:
  ret void
}
