; Keeps the kernels that are named (all, where none is) and has everything inlined that is called, but for recursion: Enzyme
; then meets one function an entry.
;
; RUN: %opt -passes='adgen-select-kernels<wanted>' -S %s | %filecheck %s --check-prefixes=CHECK,NAMED
; RUN: %opt -passes='adgen-select-kernels' -S %s | %filecheck %s --check-prefixes=CHECK,ALL

target triple = "nvptx64-nvidia-cuda"

; A list of all kernels, as clang makes it for __launch_bounds__, does not keep the others alive.
; NAMED: @list = {{.*}}[ptr @wanted, ptr poison]
; ALL: @list = {{.*}}[ptr @wanted, ptr @other]
@list = internal constant [2 x ptr] [ptr @wanted, ptr @other]

; Inline variables of the device have one definition here; a constant among them, which clang has taken to the device of itself, is not set by the host.
; CHECK: @inline_set = addrspace(1) externally_initialized global float 1.0
; CHECK: @inline_constant = internal addrspace(4) constant float 2.0
$inline_set = comdat any
$inline_constant = comdat any
@inline_set = linkonce_odr addrspace(1) externally_initialized global float 1.0, comdat, !dbg !18
@inline_constant = linkonce_odr addrspace(4) externally_initialized constant float 2.0, comdat, !dbg !20

; A variable of a file whose host code is elsewhere can be set, but not one that is const, has a value, or lies elsewhere.
; CHECK: @set_elsewhere = {{.*}}addrspace(4) externally_initialized constant float 0.0
; CHECK: @const = internal addrspace(4) constant
; CHECK: @table = internal addrspace(4) constant
; CHECK: @written = internal addrspace(1) global
@set_elsewhere = internal addrspace(4) constant float 0.0, !dbg !10
@const = internal addrspace(4) constant float 0.0, !dbg !12
@table = internal addrspace(4) constant float 2.0, !dbg !14
@written = internal addrspace(1) global float 0.0, !dbg !16

; CHECK: define ptx_kernel void @wanted
define ptx_kernel void @wanted(ptr %x) {
  call void @helper(ptr %x)
  call void @recursive(ptr %x, i32 3)
  ret void
}

; NAMED-NOT: @other
; ALL: define ptx_kernel void @other(ptr %x) {
define ptx_kernel void @other(ptr %x) {
  ret void
}

; CHECK: define internal void @helper(ptr %x) [[INLINED:#[0-9]+]]
define linkonce_odr void @helper(ptr %x) noinline optnone {
  store float 1.0, ptr %x
  ret void
}

; CHECK: define void @recursive(ptr %x, i32 %n) {
define void @recursive(ptr %x, i32 %n) {
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %again
again:
  %less = sub i32 %n, 1
  call void @recursive(ptr %x, i32 %less)
  br label %end
end:
  ret void
}

; A shuffle of double has a rule, so it is kept whole.
; CHECK: define {{.*}}double @_Z15__shfl_xor_syncjdii({{.*}}) [[WHOLE:#[0-9]+]] {
define linkonce_odr double @_Z15__shfl_xor_syncjdii(i32 %mask, double %v, i32 %offset, i32 %width) alwaysinline {
  ret double %v
}

; CHECK-DAG: attributes [[WHOLE]] = { noinline }
; CHECK-DAG: attributes [[INLINED]] = { alwaysinline }

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "k.cu", directory: "/home/u")
!3 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!4 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !3)
!10 = !DIGlobalVariableExpression(var: !11, expr: !DIExpression())
!11 = distinct !DIGlobalVariable(name: "set_elsewhere", scope: !1, file: !2, line: 1, type: !3, isLocal: true, isDefinition: true)
!12 = !DIGlobalVariableExpression(var: !13, expr: !DIExpression())
!13 = distinct !DIGlobalVariable(name: "const", scope: !1, file: !2, line: 2, type: !4, isLocal: true, isDefinition: true)
!14 = !DIGlobalVariableExpression(var: !15, expr: !DIExpression())
!15 = distinct !DIGlobalVariable(name: "table", scope: !1, file: !2, line: 3, type: !3, isLocal: true, isDefinition: true)
!16 = !DIGlobalVariableExpression(var: !17, expr: !DIExpression())
!17 = distinct !DIGlobalVariable(name: "written", scope: !1, file: !2, line: 4, type: !3, isLocal: true, isDefinition: true)
!18 = !DIGlobalVariableExpression(var: !19, expr: !DIExpression())
!19 = distinct !DIGlobalVariable(name: "inline_set", scope: !1, file: !2, line: 5, type: !3, isLocal: false, isDefinition: true)
!20 = !DIGlobalVariableExpression(var: !21, expr: !DIExpression())
!21 = distinct !DIGlobalVariable(name: "inline_constant", scope: !1, file: !2, line: 6, type: !4, isLocal: false, isDefinition: true)
