; A function that calls what is defined nowhere says so, unless the name is of the C++ library or of C, which the linker may know.
;
; RUN: %opt -passes=adgen-describe -disable-output %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK:      "name": "calls_nothing",
; CHECK:      "undefined": {
; CHECK-NEXT:   "line": 6,
; CHECK-NEXT:   "name": "helper(double)"
define void @calls_nothing() !dbg !20 {
  call void @within(), !dbg !31
  ret void
}

; CHECK:      "name": "calls_libraries",
; CHECK-NOT:  "undefined"
; CHECK:      "name": "within",
define void @calls_libraries() !dbg !21 {
  call double @sin(double 1.0)
  call ptr @_Znwm(i64 8)
  call double @_ZNKSt6vectorIdSaIdEE4sizeEv(double 1.0)
  call void @_ZSt20__throw_length_errorPKc(ptr null)
  ret void
}

define internal void @within() !dbg !22 {
  call double @_Z6helperd(double 1.0), !dbg !30
  ret void
}

declare double @_Z6helperd(double)
declare double @sin(double)
declare ptr @_Znwm(i64)
declare double @_ZNKSt6vectorIdSaIdEE4sizeEv(double)
declare void @_ZSt20__throw_length_errorPKc(ptr)

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "k.cpp", directory: "/home/u")
!10 = !DISubroutineType(types: !{null})
!20 = distinct !DISubprogram(name: "calls_nothing", scope: !2, file: !2, line: 3, type: !10, unit: !1, spFlags: DISPFlagDefinition)
!21 = distinct !DISubprogram(name: "calls_libraries", scope: !2, file: !2, line: 8, type: !10, unit: !1, spFlags: DISPFlagDefinition)
!22 = distinct !DISubprogram(name: "within", scope: !2, file: !2, line: 5, type: !10, unit: !1, spFlags: DISPFlagDefinition)
!30 = !DILocation(line: 6, scope: !22)
!31 = !DILocation(line: 4, scope: !20)
