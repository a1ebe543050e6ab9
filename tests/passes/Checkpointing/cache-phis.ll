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

; In a loop a phi is kept where there are too many ways through what it is made of: Enzyme would go along each.
; CHECK-LABEL: define void @adgen_body_ways(
; CHECK:         %few = phi double [ %v1, %loop ], [ 0.000000e+00, %small ]
; CHECK-NEXT:    %many = phi double
; CHECK-NEXT:    call double @adgen_hold_ieee64(double %many)
; CHECK-NOT:     adgen_hold
; CHECK:         ret void
define void @adgen_body_ways(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %at = getelementptr double, ptr %x, i64 %i
  %v0 = load double, ptr %at
  %v1 = fmul double %v0, %v0
  %v2 = fmul double %v1, %v1
  %v3 = fmul double %v2, %v2
  %v4 = fmul double %v3, %v3
  %v5 = fmul double %v4, %v4
  %v6 = fmul double %v5, %v5
  %v7 = fmul double %v6, %v6
  %v8 = fmul double %v7, %v7
  %v9 = fmul double %v8, %v8
  %v10 = fmul double %v9, %v9
  %v11 = fmul double %v10, %v10
  %v12 = fmul double %v11, %v11
  %v13 = fmul double %v12, %v12
  %v14 = fmul double %v13, %v13
  %v15 = fmul double %v14, %v14
  %v16 = fmul double %v15, %v15
  %v17 = fmul double %v16, %v16
  %c = fcmp olt double %v0, 1.0
  br i1 %c, label %small, label %join
small:
  br label %join
join:
  %few = phi double [ %v1, %loop ], [ 0.0, %small ]
  %many = phi double [ %v17, %loop ], [ 0.0, %small ]
  %sum = fadd double %few, %many
  store double %sum, ptr %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; That of a number of floating point has a derivative, which hands the cotangent on.
; CHECK-DAG: declare {{.*}}!enzyme_gradient ![[GRADIENT:[0-9]+]] {{.*}}"enzyme_type"="{[-1]:Float@double}" double @adgen_hold_ieee64(double "enzyme_type"="{[-1]:Float@double}")
; CHECK-DAG: define internal { double } @adgen_hold_ieee64_reverse(double %0, double %1)
; CHECK-DAG: insertvalue { double } poison, double %1, 0
; CHECK-DAG: ![[GRADIENT]] = !{ptr @adgen_hold_ieee64_reverse}
; CHECK-DAG: declare {{.*}}"enzyme_type"="{[-1]:Integer}" i64 @adgen_hold_i64(i64 "enzyme_type"="{[-1]:Integer}") [[HOLD:#[0-9]+]]
; CHECK-DAG: attributes [[HOLD]] = { nofree nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" }
declare double @llvm.sqrt.f64(double)
