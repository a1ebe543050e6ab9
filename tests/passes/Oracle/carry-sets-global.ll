; Sets of all that influences a number: a comparison has a set beside it, of a choice by data both sides and the comparison count, whole numbers keep
; their sets, and a branch on data is noted.
;
; RUN: %opt -passes='adgen-carry-sets<global>' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

define void @adgen_tangent_f(ptr %x, ptr %d_x) {
  call void (...) @__enzyme_fwddiff_adgen_body_f(ptr @adgen_body_f, metadata !"enzyme_runtime_activity", metadata !"enzyme_dup", ptr %x, ptr %d_x)
  ret void
}

define void @adgen_body_f(ptr %x) {
entry:
  %a = load double, ptr %x
  %up = fcmp ogt double %a, 0.0
  %m = select i1 %up, double 1.0, double 2.0
  %whole = fptosi double %m to i64
  %is = icmp sgt i64 %whole, 1
  br i1 %is, label %then, label %end
then:
  store double %m, ptr %x
  br label %end
end:
  ret void
}

declare void @__enzyme_fwddiff_adgen_body_f(...)

; CHECK-LABEL: define internal void @adgen_set_of_adgen_body_f(ptr %x, ptr %d_x)
; CHECK:         %up = fcmp ogt double %a, 0.000000e+00
; CHECK-NEXT:    [[UP:%.*]] = bitcast double [[A:%.*]] to i64
; CHECK:         [[CHOSEN:%.*]] = select i1 %up, double 0.0{{.*}}, double 0.0
; CHECK-NEXT:    [[ALL:%.*]] = bitcast i64 [[UP]] to double
; CHECK-NEXT:    [[ANY:%.*]] = icmp ne i64 [[UP]], 0
; CHECK-NEXT:    [[M:%.*]] = select i1 [[ANY]], double [[ALL]], double [[CHOSEN]]
; CHECK-NEXT:    %whole = fptosi double %m to i64
; CHECK-NEXT:    [[WHOLE:%.*]] = bitcast double [[M]] to i64
; CHECK-NEXT:    %is = icmp sgt i64 %whole, 1
; CHECK-NEXT:    icmp ne i64 [[WHOLE]], 0
; CHECK-NEXT:    [[STEERED:%.*]] = icmp ne i64 [[WHOLE]], 0
; CHECK-NEXT:    [[AT:%.*]] = select i1 [[STEERED]], ptr {{.*}}, ptr %nowhere
; CHECK-NEXT:    store volatile i32 1, ptr [[AT]]
; CHECK-NEXT:    br i1 %is, label %then, label %end
