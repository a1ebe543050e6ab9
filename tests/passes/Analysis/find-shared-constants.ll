; Shared arrays that hold nothing but what comes from const parameters, and that are not written behind a read, are constants.
;
; RUN: %opt -passes='adgen-find-shared-constants<mixed=duplicated:const;chain=duplicated:const;all=const;scalar=duplicated:active:const>' -S %s | %filecheck %s

@settled = internal addrspace(3) global [64 x float] undef
@repeated = internal addrspace(3) global [64 x float] undef
@active = internal addrspace(3) global [64 x float] undef
@words = internal addrspace(3) global [64 x i32] undef
@dynamic = external addrspace(3) global [0 x float]

; One is written again, one holds active values, one words that may be anything, and one more than this kernel's part.
; CHECK: define void @adgen_body_mixed({{.*}}) [[MIXED:#[0-9]+]]
define void @adgen_body_mixed(ptr %x, ptr %c, ptr %table, ptr %again, ptr %values, ptr %words, ptr %region) "adgen-shared"="settled:repeated:active:words:dynamic" {
  %v = load float, ptr %c
  %s = call float @sqrtf(float %v)
  %word = load i32, ptr %c
  store float %s, ptr %table
  store float %s, ptr %again
  store float %s, ptr %region
  store i32 %word, ptr %words
  %a = load float, ptr %x
  store float %a, ptr %values
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %there = getelementptr float, ptr %table, i32 3
  %t = load float, ptr %there
  %u = load float, ptr %again
  store float %t, ptr %again
  %w = load float, ptr %values
  %p = fmul float %t, %w
  %q = fmul float %p, %u
  store float %q, ptr %x
  ret void
}

; What an array holds comes from another one; the first chain begins with a constant, the second with an active value.
; CHECK: define void @adgen_body_chain({{.*}}) [[CHAIN:#[0-9]+]]
define void @adgen_body_chain(ptr %x, ptr %c, ptr %first, ptr %second, ptr %third, ptr %fourth) "adgen-shared"="settled:repeated:active:active" {
  %v = load float, ptr %c
  store float %v, ptr %first
  %from = load float, ptr %first
  store float %from, ptr %second
  %a = load float, ptr %x
  store float %a, ptr %third
  %b = load float, ptr %third
  %sum = fadd float %b, %from
  store float %sum, ptr %fourth
  ret void
}

; Where nothing else is differentiated, barriers need one of them.
; CHECK: define void @adgen_body_all({{.*}}) [[ALL:#[0-9]+]]
define void @adgen_body_all(ptr %c, ptr %table) "adgen-shared"="settled" {
  %v = load float, ptr %c
  store float %v, ptr %table
  ret void
}

; CHECK: define void @adgen_body_scalar({{.*}}) [[SCALAR:#[0-9]+]]
define void @adgen_body_scalar(ptr %x, float %active, float %const, ptr %first, ptr %second) "adgen-shared"="settled:repeated" {
  store float %active, ptr %first
  store float %const, ptr %second
  ret void
}

declare float @sqrtf(float) memory(none) "enzyme_math"="sqrt"
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

; CHECK-DAG: attributes [[MIXED]] = { "adgen-shared"="settled:repeated:active:words:dynamic" "adgen-shared-constants"="0" }
; CHECK-DAG: attributes [[CHAIN]] = { "adgen-shared"="settled:repeated:active:active" "adgen-shared-constants"="0:1" }
; CHECK-DAG: attributes [[ALL]] = { "adgen-shared"="settled" }
; CHECK-DAG: attributes [[SCALAR]] = { "adgen-shared"="settled:repeated" "adgen-shared-constants"="1" }
