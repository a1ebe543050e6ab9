; What remains of a choice in shared memory is kept at the barrier behind, where something else is written there later. Nobody may read or write
; it before.
;
; RUN: %opt -passes=adgen-settle-shared-choices -S %s 2>/dev/null | %filecheck %s
; RUN: %opt -passes=adgen-settle-shared-choices -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED --implicit-check-not=adgen-refusal

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_once(
; CHECK-NOT: adgen_rule_settle
; CHECK: ret void
define void @adgen_body_once(ptr %x, ptr %most) "adgen-shared"="most" {
  %brought = alloca float
  store float 0.0, ptr %most
  call void @adgen_rule_barrier(ptr %most)
  call void @adgen_rule_choose_max_f32(ptr %most, ptr %brought)
  call void @adgen_rule_barrier(ptr %most)
  %v = load float, ptr %most
  store float %v, ptr %x
  ret void
}

; In a loop, beside other parts of the array; the barrier behind is met on two ways.
; CHECK-LABEL: define void @adgen_body_in_turns(
; CHECK: call void @adgen_rule_barrier(ptr %most)
; CHECK-NEXT: call void @adgen_rule_choose_max_f64(
; CHECK-NOT: adgen_rule_settle
; CHECK: one:
; CHECK-NEXT: call void @adgen_rule_barrier(
; CHECK-NEXT: call void @adgen_rule_settle_f64(ptr %place)
; CHECK: other:
; CHECK-NEXT: call void @adgen_rule_barrier(
; CHECK-NEXT: call void @adgen_rule_settle_f64(ptr %place)
define void @adgen_body_in_turns(ptr %x, i1 %way, i64 %n, ptr %most) "adgen-shared"="most" {
entry:
  %brought = alloca double
  %place = getelementptr double, ptr %most, i64 1
  br label %turn
turn:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  store double 0.0, ptr %place
  call void @adgen_rule_barrier(ptr %most)
  call void @adgen_rule_choose_max_f64(ptr %place, ptr %brought)
  %sum = atomicrmw fadd ptr %most, double 1.0 monotonic
  %rows = getelementptr double, ptr %most, i64 2
  %row = getelementptr double, ptr %rows, i64 %k
  %w = load double, ptr %row
  br i1 %way, label %one, label %other
one:
  call void @adgen_rule_barrier(ptr %most)
  br label %next
other:
  call void @adgen_rule_barrier(ptr %most)
  br label %next
next:
  %v = load double, ptr %place
  store double %v, ptr %x
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %n
  call void @adgen_rule_barrier(ptr %most)
  br i1 %more, label %turn, label %end
end:
  ret void
}

; REFUSED: adgen-refusal: {{.*}}"entry":"early"
; REFUSED-SAME: where the array is read or written before a barrier
define void @adgen_body_early(ptr %x, ptr %most) "adgen-shared"="most" {
  %brought = alloca float
  call void @adgen_rule_choose_max_f32(ptr %most, ptr %brought)
  %v = load float, ptr %most
  call void @adgen_rule_barrier(ptr %most)
  store float %v, ptr %x
  ret void
}

; REFUSED: adgen-refusal: {{.*}}"entry":"added"
; REFUSED-SAME: where something else is done to the array by atomics or calls
define void @adgen_body_added(ptr %x, ptr %most) "adgen-shared"="most" {
  %brought = alloca float
  call void @adgen_rule_choose_max_f32(ptr %most, ptr %brought)
  call void @adgen_rule_barrier(ptr %most)
  %v = atomicrmw add ptr %most, i32 1 monotonic
  ret void
}

; REFUSED: adgen-refusal: {{.*}}"entry":"bits"
; REFUSED-SAME: whose bits are read as integers
define void @adgen_body_bits(ptr %x, ptr %most) "adgen-shared"="most" {
  %brought = alloca float
  call void @adgen_rule_choose_max_f32(ptr %most, ptr %brought)
  call void @adgen_rule_barrier(ptr %most)
  %bits = load i32, ptr %most
  %v = bitcast i32 %bits to float
  store float %v, ptr %x
  ret void
}

; What is added there later is one more reason to keep it.
; CHECK-LABEL: define void @adgen_body_summed(
; CHECK: call void @adgen_rule_settle_f32(ptr %most)
define void @adgen_body_summed(ptr %x, ptr %most) "adgen-shared"="most" {
  %brought = alloca float
  call void @adgen_rule_choose_max_f32(ptr %most, ptr %brought)
  call void @adgen_rule_barrier(ptr %most)
  %v = load float, ptr %most
  store float %v, ptr %x
  call void @adgen_rule_barrier(ptr %most)
  %sum = atomicrmw fadd ptr %most, float 1.0 monotonic
  ret void
}

; REFUSED: adgen-refusal: {{.*}}"entry":"unknown"
; REFUSED-SAME: where the element is not known at the barrier behind
define void @adgen_body_unknown(ptr %x, i1 %has, ptr %most) "adgen-shared"="most" {
  %brought = alloca float
  br label %turn
turn:
  br i1 %has, label %choose, label %meet
choose:
  %i = load i64, ptr %x
  %place = getelementptr float, ptr %most, i64 %i
  call void @adgen_rule_choose_max_f32(ptr %place, ptr %brought)
  br label %meet
meet:
  call void @adgen_rule_barrier(ptr %most)
  store float 0.0, ptr %most
  br label %turn
}

; REFUSED: adgen-refusal: {{.*}}"entry":"member"
; REFUSED-SAME: that is declared as integers beside others
define void @adgen_body_member(ptr %x, ptr "adgen-layout"="24[0i4,8f8,16i4]" %most) "adgen-shared"="most" {
  %brought = alloca float
  %place = getelementptr i8, ptr %most, i64 16
  call void @adgen_rule_choose_max_f32(ptr %place, ptr %brought)
  call void @adgen_rule_barrier(ptr %most)
  ret void
}

declare void @adgen_rule_barrier(ptr)
declare void @adgen_rule_choose_max_f32(ptr, ptr)
declare void @adgen_rule_choose_max_f64(ptr, ptr)
