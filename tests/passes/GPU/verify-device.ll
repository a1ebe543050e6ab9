; The last look at device code. What a kernel would call but the GPU does not have is refused with its place; what the driver records of
; every gradient kernel is printed, its static shared memory counted twice, for the shadows, and what threads hand each other once.
;
; RUN: %opt -passes=adgen-verify-device -disable-output %s 2>&1 | %filecheck %s --implicit-check-not=adgen-refusal

target triple = "nvptx64-nvidia-cuda"

; CHECK: adgen-refusal: {"column":3,"entry":"","file":"/home/u/k.cu","hint":"{{.*}}","line":7,"reason":"the gradient needs 'somewhere_else', which does not exist on the GPU"}

; The report is one line of JSON on stdout: kernels by symbol, those that carry tangents too.
; CHECK: {"cooperative":["grid"],"kernels":{"dynamic":{"batch":false,"dynamic_shadow_bytes":0,"dynamic_shared":true,"heap":false,"lent":[],"static_shared_bytes":528,"tape_size_from":null,"unwritten":[{{[0-9,]*}}]},"static":{"batch":false,"dynamic_shadow_bytes":0,"dynamic_shared":false,"heap":true,"lent":[],"static_shared_bytes":630,"tape_size_from":null,"unwritten":[{{[0-9,]*}}]}},"seconds":{"twice":{"batch":false,"dynamic_shadow_bytes":0,"dynamic_shared":false,"heap":false,"lent":[],"static_shared_bytes":0,"tape_size_from":null,"unwritten":[{{[0-9,]*}}]}},"tangents":{"carries":{"batch":false,"dynamic_shadow_bytes":0,"dynamic_shared":false,"heap":false,"lent":[],"static_shared_bytes":534,"tape_size_from":null,"unwritten":[{{[0-9,]*}}]}}}

@tile = internal addrspace(3) global [64 x float] undef
@cells = internal addrspace(3) global [3 x i8] undef
@adgen_exchange_static = internal addrspace(3) global [16 x float] undef
@adgen_exchange_static.1 = internal addrspace(3) global [4 x double] undef
@adgen_exchange_statics = internal addrspace(3) global [8 x float] undef
@region = external addrspace(3) global [0 x float]

define ptx_kernel void @static(ptr %x) {
  ret void
}

define ptx_kernel void @static__gradient(ptr %x) "adgen-activity"="duplicated" "adgen-shared"="tile:cells" {
  %memory = call ptr @malloc(i64 8)
  call void @free(ptr %memory)
  ret void
}

define ptx_kernel void @carries__tangent(ptr %x) "adgen-tangent-activity"="duplicated" "adgen-shared"="tile:cells" {
  ret void
}

define ptx_kernel void @twice__second(ptr %x, ptr %d_x) "adgen-tangent-activity"="duplicated" {
  ret void
}

define ptx_kernel void @dynamic__gradient(ptr %x) "adgen-activity"="duplicated" "adgen-shared"="region:tile" !dbg !4 {
  call void @somewhere_else(), !dbg !5
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)
declare void @somewhere_else()
declare void @not_called()

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "k.cu", directory: "/home/u")
!3 = !DISubroutineType(types: !{null})
!4 = distinct !DISubprogram(name: "dynamic", scope: !2, file: !2, line: 6, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 7, column: 3, scope: !4)

; Its blocks wait for each other.
define ptx_kernel void @grid() {
  %workspace = call i32 @llvm.nvvm.read.ptx.sreg.envreg2()
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.envreg2()
