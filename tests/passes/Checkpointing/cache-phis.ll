; Numbers that depend on the way taken pass through a call that Enzyme cannot repeat, outside of loops; integers whose bits become a number of
; floating point do not, nor do numbers in loops, what loops leave behind, and a choice among what is known on all ways.
;
; RUN: %opt -passes=adgen-cache-phis -S %s | %filecheck %s
; RUN: %opt -passes=adgen-cache-phis,adgen-strip-guards -S %s | %filecheck %s --check-prefix=RELEASED

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_k(
; CHECK:         %seed = phi i64
; CHECK-NEXT:    %bits = phi i64
; CHECK-NEXT:    %value = phi double
; CHECK-NEXT:    %root = phi double
; CHECK-NEXT:    %[[ROOT:.*]] = call double @adgen_hold_ieee64(double %root)
; CHECK-NEXT:    %[[HELD:.*]] = call i64 @adgen_hold_i64(i64 %seed)
; CHECK-NEXT:    %masked = and i64 %[[HELD]], 255
; CHECK-NEXT:    %other = bitcast i64 %bits to double
; CHECK:       loop:
; CHECK-NOT:     @adgen_hold
; CHECK:         fmul double %sum, %[[ROOT]]
; CHECK-NOT:     @adgen_hold
; CHECK:         ret void
; RELEASED-NOT: call {{.*}}@adgen_hold
; RELEASED:     %masked = and i64 %seed, 255
; RELEASED:     fmul double %sum, %root
; RELEASED-NOT: call {{.*}}@adgen_hold
define void @adgen_body_k(ptr %p, i1 %c, i64 %a) {
entry:
  br i1 %c, label %odd, label %join
odd:
  %b = mul i64 %a, 3
  %read = load double, ptr %p
  %long = call double @llvm.sqrt.f64(double %read)
  br label %join
join:
  %seed = phi i64 [ %a, %entry ], [ %b, %odd ]
  %bits = phi i64 [ %b, %odd ], [ 0, %entry ]
  %value = phi double [ 1.0, %entry ], [ 2.0, %odd ]
  %root = phi double [ 0.0, %entry ], [ %long, %odd ]
  %masked = and i64 %seed, 255
  %other = bitcast i64 %bits to double
  br label %loop
loop:
  %i = phi i64 [ 0, %join ], [ %i.next, %loop ]
  %place = getelementptr double, ptr %p, i64 %i
  %sum = fadd double %value, %other
  %scaled = fmul double %sum, %root
  store double %scaled, ptr %place
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %masked
  br i1 %done, label %end, label %loop
end:
  %left = phi double [ %scaled, %loop ]
  br i1 %c, label %more, label %last
more:
  br label %last
last:
  %result = phi double [ %left, %more ], [ 0.0, %end ]
  store double %result, ptr %p
  ret void
}

; What is only added up and stored no derivative needs.
; CHECK-LABEL: define void @adgen_body_added(
; CHECK-NOT:     @adgen_hold
; CHECK:         ret void
define void @adgen_body_added(ptr %p, double %a, i1 %c) {
entry:
  br i1 %c, label %more, label %join
more:
  %read = load double, ptr %p
  %sum = fadd double %a, %read
  br label %join
join:
  %either = phi double [ %a, %entry ], [ %sum, %more ]
  %negative = fneg double %either
  store double %negative, ptr %p
  ret void
}

; Only bodies are differentiated.
; CHECK-LABEL: define i64 @other(
; CHECK-NOT:     @adgen_hold
; CHECK:         ret i64
define i64 @other(i1 %c, i64 %a) {
entry:
  br i1 %c, label %odd, label %join
odd:
  %b = mul i64 %a, 3
  br label %join
join:
  %seed = phi i64 [ %a, %entry ], [ %b, %odd ]
  ret i64 %seed
}

; That of a number of floating point has a derivative, which hands the cotangent on.
; CHECK-DAG: declare {{.*}}!enzyme_gradient ![[GRADIENT:[0-9]+]] {{.*}}"enzyme_type"="{[-1]:Float@double}" double @adgen_hold_ieee64(double "enzyme_type"="{[-1]:Float@double}")
; CHECK-DAG: define internal { double } @adgen_hold_ieee64_reverse(double %0, double %1)
; CHECK-DAG: insertvalue { double } poison, double %1, 0
; CHECK-DAG: ![[GRADIENT]] = !{ptr @adgen_hold_ieee64_reverse}
; CHECK-DAG: declare {{.*}}"enzyme_type"="{[-1]:Integer}" i64 @adgen_hold_i64(i64 "enzyme_type"="{[-1]:Integer}") [[HOLD:#[0-9]+]]
; CHECK-DAG: attributes [[HOLD]] = { nofree nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" }
declare double @llvm.sqrt.f64(double)
