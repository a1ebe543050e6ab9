; Says which kernels use shared memory that a launch gives, also in what they call, and through a constant.
;
; RUN: %opt -passes=adgen-describe -disable-output %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

@tile = external addrspace(3) global [0 x float], align 4
@room = internal addrspace(3) global [32 x float] undef, align 4

; CHECK:      "dynamic_shared": true,
; CHECK:      "name": "by_call",
define ptx_kernel void @by_call() !dbg !20 {
  %x = call float @read(), !dbg !30
  ret void
}

; CHECK:      "dynamic_shared": false,
; CHECK:      "name": "static",
define ptx_kernel void @static() !dbg !21 {
  store float 1.0, ptr addrspace(3) @room
  ret void
}

; CHECK:      "dynamic_shared": true,
; CHECK:      "name": "read",
define internal float @read() !dbg !22 {
  %x = load float, ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 8)
  ret float %x
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "k.cu", directory: "/home/u")
!10 = !DISubroutineType(types: !{null})
!20 = distinct !DISubprogram(name: "by_call", scope: !2, file: !2, line: 3, type: !10, unit: !1, spFlags: DISPFlagDefinition)
!21 = distinct !DISubprogram(name: "static", scope: !2, file: !2, line: 8, type: !10, unit: !1, spFlags: DISPFlagDefinition)
!22 = distinct !DISubprogram(name: "read", scope: !2, file: !2, line: 5, type: !10, unit: !1, spFlags: DISPFlagDefinition)
!30 = !DILocation(line: 4, scope: !20)
