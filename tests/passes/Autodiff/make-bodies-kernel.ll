; The body of a kernel is an ordinary function of the kernel's parameters and the shared arrays it uses; the kernel stays. A struct by value
; becomes a plain pointer (adgen-struct keeps the size), shared arrays become arguments (adgen-shared keeps their names), so that
; Enzyme meets nothing but pointers and scalars.
;
; RUN: %opt -passes='adgen-make-bodies<kernel;plain;pointers>,globaldce' -S %s | %filecheck %s
; RUN: %not --crash %opt -passes='adgen-make-bodies<absent>' -S %s 2>&1 | %filecheck %s --check-prefix=ABSENT

; ABSENT: adgen-make-bodies: no function absent

target triple = "nvptx64-nvidia-cuda"

; What bodies take by name stays, also where the kernel turns out not to need it.
; CHECK: @tile = dso_local addrspace(3) global [64 x float] undef
@tile = internal addrspace(3) global [64 x float] undef
@dynamic = external addrspace(3) global [0 x float]
; The variables that asked for instances have done their work.
; CHECK-NOT: adgen_instance
; CHECK: @other_variable
@_ZL16adgen_instance_0 = internal global ptr @kernel
@other_variable = internal global i32 0
@llvm.used = appending global [2 x ptr] [ptr @_ZL16adgen_instance_0, ptr @other_variable], section "llvm.metadata"

@not_used = internal addrspace(3) global [8 x float] undef

; The optimiser, which splits small arrays, leaves those alone that are known by name.
; CHECK: @llvm.compiler.used = appending global [2 x ptr] [ptr addrspacecast (ptr addrspace(3) @{{tile|dynamic}} to ptr), ptr addrspacecast (ptr addrspace(3) @{{tile|dynamic}} to ptr)]

; CHECK: define ptx_kernel void @kernel(ptr byval({ float, i32 }) %options, ptr %x)
; CHECK:   addrspacecast ptr addrspace(3) @tile to ptr
define ptx_kernel void @kernel(ptr byval({ float, i32 }) %options, ptr %x) noinline {
entry:
  %scale = load float, ptr %options
  store float %scale, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
  store float %scale, ptr addrspace(3) getelementptr ([64 x float], ptr addrspace(3) @tile, i64 0, i64 3)
  %flag = load i1, ptr %x
  br i1 %flag, label %other, label %end
other:
  br label %end
end:
  %which = phi ptr addrspace(3) [ @dynamic, %entry ], [ @tile, %other ]
  %v = load float, ptr addrspace(3) %which
  store float %v, ptr %x
  ret void
}

; CHECK: define ptx_kernel void @plain(ptr %x)
define ptx_kernel void @plain(ptr %x) {
  store float 1.0, ptr %x
  ret void
}

define ptx_kernel void @pointers(ptr byval({ i32, [2 x ptr] }) %tables) {
  ret void
}

; CHECK: define void @adgen_body_kernel(ptr dereferenceable(8) "adgen-struct"="8" %options, ptr %x, ptr "adgen-layout"="4[0f4]" %tile, ptr %dynamic) [[BODY:#[0-9]+]] {
; CHECK-NEXT: entry:
; CHECK-NEXT:   %scale = load float, ptr %options
; A generic pointer to the array is the argument itself, one in shared space a cast of it.
; CHECK-NEXT:   store float %scale, ptr %tile
; CHECK-NEXT:   [[SHARED:%.*]] = addrspacecast ptr %tile to ptr addrspace(3)
; CHECK-NEXT:   [[THIRD:%.*]] = getelementptr [64 x float], ptr addrspace(3) [[SHARED]], i64 0, i64 3
; CHECK-NEXT:   store float %scale, ptr addrspace(3) [[THIRD]]
; CHECK-NEXT:   %flag = load i1, ptr %x
; CHECK-NEXT:   [[FROM_ENTRY:%.*]] = addrspacecast ptr %dynamic to ptr addrspace(3)
; CHECK-NEXT:   br i1 %flag
; CHECK:      other:
; CHECK-NEXT:   [[FROM_OTHER:%.*]] = addrspacecast ptr %tile to ptr addrspace(3)
; CHECK:        %which = phi ptr addrspace(3) [ [[FROM_ENTRY]], %entry ], [ [[FROM_OTHER]], %other ]
; CHECK:        ret void

; A kernel without shared arrays has an empty list, by which kernels are told from functions.
; CHECK: define void @adgen_body_plain(ptr %x) [[PLAIN:#[0-9]+]] {

; Nobody else has the address of a copy, which matters where arrays are behind it.
; CHECK: define void @adgen_body_pointers(ptr noalias dereferenceable(24) "adgen-struct"="24" %tables) [[PLAIN]] {

; CHECK-NOT: adgen_instance
; CHECK-DAG: attributes [[BODY]] = { "adgen-shared"="tile:dynamic" }
; CHECK-DAG: attributes [[PLAIN]] = { "adgen-shared" }
