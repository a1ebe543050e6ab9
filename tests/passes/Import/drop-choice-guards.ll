; A question before a choice, whether the value is better than what is there, goes; others stay.
;
; RUN: %opt -passes=adgen-drop-choice-guards -S %s | %filecheck %s

; CHECK-LABEL: define void @adgen_body_larger(
; CHECK-NOT: load volatile
; CHECK-NOT: fcmp
; CHECK: br label %choose
define void @adgen_body_larger(ptr %p, ptr %x) {
  %brought = alloca float
  %v = load float, ptr %x
  %there = load volatile float, ptr %p
  %better = fcmp ogt float %v, %there
  br i1 %better, label %choose, label %behind
choose:
  store float %v, ptr %brought
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  br label %behind
behind:
  ret void
}

; The other way round, by the bits of what is there.
; CHECK-LABEL: define void @adgen_body_returns(
; CHECK-NOT: fcmp
; CHECK: br label %choose
define void @adgen_body_returns(ptr %p, double %v) {
  %brought = alloca double
  %bits = load i64, ptr %p
  %there = bitcast i64 %bits to double
  %enough = fcmp ole double %there, %v
  br i1 %enough, label %behind, label %choose
choose:
  store double %v, ptr %brought
  call void @adgen_rule_choose_min_f64(ptr %p, ptr %brought)
  br label %behind
behind:
  ret void
}

; A smaller value, another place, another value, something that is done beside it, and something that depends on it.
; CHECK-LABEL: define void @adgen_body_smaller(
; CHECK: br i1 %worse
define void @adgen_body_smaller(ptr %p, float %v) {
  %brought = alloca float
  %there = load float, ptr %p
  %worse = fcmp olt float %v, %there
  br i1 %worse, label %choose, label %behind
choose:
  store float %v, ptr %brought
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  br label %behind
behind:
  ret void
}

; CHECK-LABEL: define void @adgen_body_elsewhere(
; CHECK: br i1 %better
define void @adgen_body_elsewhere(ptr %p, ptr %q, float %v) {
  %brought = alloca float
  %there = load float, ptr %q
  %better = fcmp ogt float %v, %there
  br i1 %better, label %choose, label %behind
choose:
  store float %v, ptr %brought
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  br label %behind
behind:
  ret void
}

; CHECK-LABEL: define void @adgen_body_another(
; CHECK: br i1 %better
define void @adgen_body_another(ptr %p, float %v, float %w) {
  %brought = alloca float
  %there = load float, ptr %p
  %better = fcmp ogt float %w, %there
  br i1 %better, label %choose, label %behind
choose:
  store float %v, ptr %brought
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  br label %behind
behind:
  ret void
}

; CHECK-LABEL: define void @adgen_body_counts(
; CHECK: br i1 %better
define void @adgen_body_counts(ptr %p, ptr %count, float %v) {
  %brought = alloca float
  %there = load float, ptr %p
  %better = fcmp ogt float %v, %there
  br i1 %better, label %choose, label %behind
choose:
  store float %v, ptr %brought
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  store i32 1, ptr %count
  br label %behind
behind:
  ret void
}

; CHECK-LABEL: define i32 @adgen_body_tells(
; CHECK: br i1 %better
define i32 @adgen_body_tells(ptr %p, float %v) {
entry:
  %brought = alloca float
  %there = load float, ptr %p
  %better = fcmp ogt float %v, %there
  br i1 %better, label %choose, label %behind
choose:
  store float %v, ptr %brought
  call void @adgen_rule_choose_max_f32(ptr %p, ptr %brought)
  br label %behind
behind:
  %was = phi i32 [ 1, %choose ], [ 0, %entry ]
  ret i32 %was
}

declare void @adgen_rule_choose_max_f32(ptr, ptr)
declare void @adgen_rule_choose_min_f64(ptr, ptr)
