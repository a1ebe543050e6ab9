; The gradients that Enzyme has written become bodies, with what they call to be inlined and with the derivatives of mathematics open; the module of the
; primals is left. Shadows of static shared arrays are arrays that begin with zeros; dynamic ones are refused.
;
; RUN: %opt -passes='adgen-adopt-gradients<%inputs/mathematics.ll>,always-inline,globaldce' -S %s 2>/dev/null | %filecheck %s
; RUN: %opt -passes='adgen-adopt-gradients<%inputs/mathematics.ll>' -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x double] undef
@given = external addrspace(3) global [0 x double]
@llvm.compiler.used = appending global [2 x ptr] [ptr @adgen_math_powd, ptr @adgen_math_powd_reverse], section "llvm.metadata"

; REFUSED: "entry":"_Z7dynamicPd"
; REFUSED-SAME: "reason":"cannot take second derivatives through dynamic shared memory"
; REFUSED: "entry":"_Z7choosesPd"
; REFUSED-SAME: "reason":"cannot take second derivatives through threads that work together"
; REFUSED-NOT: adgen-refusal

; CHECK-NOT: define ptx_kernel
; CHECK: define void @adgen_body__Z5alonePd(ptr %x, ptr %d_x)
; CHECK-NOT: call {{.*}} @adgen_math_powd_reverse
; CHECK-NOT: enzyme_inactive_val
; CHECK: fmul double %{{.*}}, 3.000000e+00
; CHECK: ret void
; CHECK: define void @adgen_body__Z8togetherPd(ptr %x, ptr %d_x, ptr %tile, ptr %d_tile) [[SHARED:#[0-9]+]]
; CHECK: word:
; CHECK: call void @llvm.memset{{.*}}(ptr align 8 %{{.*}}, i8 0, i64 8
; CHECK: call void @adgen_rule_barrier_augmented(ptr %d_tile, ptr %d_tile)
; CHECK-NEXT: call void @adgen_rule_barrier_augmented(ptr %tile, ptr %d_tile)
; CHECK: declare {{.*}} double @adgen_math_powd(double)
; CHECK: define void @adgen_body__Z7dynamicPd(ptr{{.*}}, ptr{{[^,]*}}) #
; CHECK-NEXT: entry:
; CHECK-NEXT: ret void
; CHECK: attributes [[SHARED]] = { {{.*}}"adgen-shared"="tile:adgen_cotangents_tile"
define ptx_kernel void @_Z5alonePd(ptr %x) {
  ret void
}

define void @adgen_body__Z5alonePd(ptr %x) "adgen-shared" {
  ret void
}

define void @adgen_gradient__Z5alonePd(ptr %x, ptr %d_x) "adgen-activity"="duplicated" "adgen-shared" {
  call void @diffe(ptr %x, ptr %d_x)
  ret void
}

define internal void @diffe(ptr %x, ptr %d_x) {
  %v = load double, ptr %x, !enzyme_inactive_val !{}
  %cotangent = load double, ptr %d_x
  %both = call { double } @adgen_math_powd_reverse(double %v, double %cotangent)
  %part = extractvalue { double } %both, 0
  store double %part, ptr %d_x
  %value = call double @adgen_math_powd(double %v)
  store double %value, ptr %x
  ret void
}

define void @adgen_gradient__Z8togetherPd(ptr %x, ptr %d_x, ptr %tile, ptr %d_tile) "adgen-activity"="duplicated" "adgen-shared"="tile" {
  call void @adgen_rule_barrier_augmented(ptr %tile, ptr %d_tile)
  ret void
}

define void @adgen_gradient__Z7dynamicPd(ptr %x, ptr %d_x, ptr %given, ptr %d_given) "adgen-activity"="duplicated" "adgen-shared"="given" {
  ret void
}

define void @adgen_gradient__Z7choosesPd(ptr %x, ptr %d_x) "adgen-activity"="duplicated" "adgen-shared" {
  call void @adgen_rule_choose_max_augmented(ptr %x, ptr %d_x)
  ret void
}

declare void @adgen_rule_choose_max_augmented(ptr, ptr)
declare void @adgen_rule_barrier_augmented(ptr, ptr)
declare !enzyme_gradient !0 double @adgen_math_powd(double)
declare { double } @adgen_math_powd_reverse(double, double)

!0 = !{ptr @adgen_math_powd_reverse}
