; Maxima and minima by atomics become calls with a rule: operations of numbers, and of integers on their bits, unless
; what was there before is used; and loops around a compare-and-swap.
;
; RUN: %opt -passes=adgen-raise-atomic-choices -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_operations(
; CHECK:         store float %v, ptr %{{.*}}
; CHECK-NEXT:    call void @adgen_rule_choose_max_f32(ptr %p, ptr %{{.*}})
; CHECK:         call void @adgen_rule_choose_smax_f32(ptr %p, ptr %{{.*}})
; CHECK:         atomicrmw umin ptr %p, i32 %bits
; CHECK:         atomicrmw max ptr %counts, i32 3
define void @adgen_body_operations(ptr %p, ptr %counts, float %v, ptr %old) {
  %a = atomicrmw fmax ptr %p, float %v monotonic
  %bits = bitcast float %v to i32
  %b = atomicrmw max ptr %p, i32 %bits monotonic
  %c = atomicrmw umin ptr %p, i32 %bits monotonic
  store i32 %c, ptr %old
  %d = atomicrmw max ptr %counts, i32 3 monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_body_selects(
; CHECK:       try:
; CHECK:         call void @adgen_rule_choose_min_f64(ptr %p, ptr %{{.*}})
; CHECK-NOT:     cmpxchg
; CHECK:         br i1 false, label %try, label %done
define void @adgen_body_selects(ptr %p, double %v) {
entry:
  %first = load i64, ptr %p
  br label %try
try:
  %old = phi i64 [ %first, %entry ], [ %found, %try ]
  %there = bitcast i64 %old to double
  %less = fcmp olt double %there, %v
  %either = select i1 %less, double %there, double %v
  %bits = bitcast double %either to i64
  %swap = cmpxchg ptr %p, i64 %old, i64 %bits seq_cst seq_cst
  %found = extractvalue { i64, i1 } %swap, 0
  %again = icmp ne i64 %found, %old
  br i1 %again, label %try, label %done
done:
  ret void
}

; As fmax is made of instructions.
; CHECK-LABEL: define void @adgen_body_asks_for_no_number(
; CHECK:         call void @adgen_rule_choose_max_f32(ptr %p, ptr %{{.*}})
define void @adgen_body_asks_for_no_number(ptr %p, float %v) {
entry:
  %first = load i32, ptr %p
  br label %try
try:
  %old = phi i32 [ %first, %entry ], [ %found, %try ]
  %there = bitcast i32 %old to float
  %more = fcmp oge float %v, %there
  %none = fcmp uno float %there, %there
  %either = or i1 %more, %none
  %new = select i1 %either, float %v, float %there
  %bits = bitcast float %new to i32
  %swap = cmpxchg ptr %p, i32 %old, i32 %bits seq_cst seq_cst
  %found = extractvalue { i32, i1 } %swap, 0
  %again = icmp ne i32 %found, %old
  br i1 %again, label %try, label %done
done:
  ret void
}

; A loop that begins with a comparison: the value is brought before it.
; CHECK-LABEL: define void @adgen_body_guarded(
; CHECK:       entry:
; CHECK:         load i32, ptr %p
; CHECK:         call void @adgen_rule_choose_max_f32(ptr %p, ptr %{{.*}})
; CHECK-NEXT:    br label %head
; CHECK-NOT:     cmpxchg
define void @adgen_body_guarded(ptr %p, float %v) {
entry:
  %first = load volatile i32, ptr %p
  %bits = bitcast float %v to i32
  br label %head
head:
  %old = phi i32 [ %first, %entry ], [ %found, %try ]
  %there = bitcast i32 %old to float
  %more = fcmp ogt float %v, %there
  br i1 %more, label %try, label %done
try:
  %swap = cmpxchg ptr %p, i32 %old, i32 %bits seq_cst seq_cst
  %found = extractvalue { i32, i1 } %swap, 0
  %made = icmp eq i32 %found, %old
  br i1 %made, label %done, label %head
done:
  ret void
}

; What was there before is used, so it stays.
; CHECK-LABEL: define void @adgen_body_uses_what_was_there(
; CHECK:         cmpxchg
define void @adgen_body_uses_what_was_there(ptr %p, float %v, ptr %out) {
entry:
  %first = load i32, ptr %p
  br label %try
try:
  %old = phi i32 [ %first, %entry ], [ %found, %try ]
  %there = bitcast i32 %old to float
  %larger = call float @llvm.maxnum.f32(float %there, float %v)
  %bits = bitcast float %larger to i32
  %swap = cmpxchg ptr %p, i32 %old, i32 %bits seq_cst seq_cst
  %found = extractvalue { i32, i1 } %swap, 0
  %again = icmp ne i32 %found, %old
  br i1 %again, label %try, label %done
done:
  store i32 %found, ptr %out
  ret void
}

; It does no harm to try a maximum again while what was found is smaller, and then it is not.
; CHECK-LABEL: define void @adgen_body_tried_again(
; CHECK:         call void @adgen_rule_choose_max_f32(ptr %p, ptr %{{.*}})
; CHECK-NOT:     cmpxchg
; CHECK:         br i1 false, label %try, label %made
; CHECK:         br i1 false, label %try, label %done
define void @adgen_body_tried_again(ptr %p, float %v) {
entry:
  %first = load i32, ptr %p
  br label %try
try:
  %old = phi i32 [ %first, %entry ], [ %found, %try ], [ %found, %made ]
  %there = bitcast i32 %old to float
  %larger = call float @llvm.maxnum.f32(float %there, float %v)
  %bits = bitcast float %larger to i32
  %swap = cmpxchg ptr %p, i32 %old, i32 %bits seq_cst seq_cst
  %found = extractvalue { i32, i1 } %swap, 0
  %again = icmp ne i32 %found, %old
  br i1 %again, label %try, label %made
made:
  %was = bitcast i32 %found to float
  %smaller = fcmp olt float %was, %v
  br i1 %smaller, label %try, label %done
done:
  ret void
}

; While it is larger, a loop may go on for ever, and such a one stays.
; CHECK-LABEL: define void @adgen_body_tried_while_larger(
; CHECK:         cmpxchg
define void @adgen_body_tried_while_larger(ptr %p, float %v) {
entry:
  %first = load i32, ptr %p
  br label %try
try:
  %old = phi i32 [ %first, %entry ], [ %found, %try ]
  %there = bitcast i32 %old to float
  %larger = call float @llvm.maxnum.f32(float %there, float %v)
  %bits = bitcast float %larger to i32
  %swap = cmpxchg ptr %p, i32 %old, i32 %bits seq_cst seq_cst
  %found = extractvalue { i32, i1 } %swap, 0
  %again = icmp ne i32 %found, %old
  %was = bitcast i32 %found to float
  %larger.yet = fcmp ogt float %was, %v
  %either = or i1 %again, %larger.yet
  br i1 %either, label %try, label %done
done:
  ret void
}

; Of the primal nothing is changed.
; CHECK-LABEL: define void @kernel(
; CHECK:         atomicrmw fmax
define void @kernel(ptr %p, float %v) {
  %a = atomicrmw fmax ptr %p, float %v monotonic
  ret void
}
