; A struct that holds pointers is described itself where a C++ function takes its address; one with a table of virtual functions is not,
; nor one of numbers alone. Complex numbers are structs of two parts, and members of classes are local.
;
; struct Grid { double *u; };   struct Solver { virtual ...; double *u; };   struct Point { double x; };
; void step(const Grid &grid, Grid *next, Solver &solver, Point &point, std::complex<double> *z);   and Grid::scale
;
; RUN: %opt -passes=adgen-describe -disable-output %s | %filecheck %s

target triple = "x86_64-unknown-linux-gnu"

; CHECK:     "local": false,
; CHECK:         "by_address": true,
; CHECK-NEXT:    "const": true,
; CHECK-NEXT:    "name": "grid",
; CHECK-NEXT:    "reference": true,
; CHECK-NEXT:    "type": {
; CHECK-NEXT:      "kind": "struct",
; CHECK:         "by_address": true,
; CHECK-NEXT:    "const": false,
; CHECK-NEXT:    "name": "next",
; CHECK-NEXT:    "reference": false,
; CHECK:         "by_address": false,
; CHECK-NEXT:    "const": false,
; CHECK-NEXT:    "name": "solver",
; CHECK-NEXT:    "reference": false,
; CHECK-NEXT:    "type": {
; CHECK-NEXT:      "const": false,
; CHECK-NEXT:      "kind": "pointer",
; CHECK:         "by_address": false,
; CHECK-NEXT:    "const": false,
; CHECK-NEXT:    "name": "point",
; CHECK:         "name": "z",
; CHECK:           "kind": "struct",
; CHECK:           "name": "real",
; CHECK:           "offset": 0,
; CHECK:           "name": "imag",
; CHECK:           "offset": 8,
; CHECK:     "local": true,
; CHECK-NEXT: "name": "Grid::scale",
define void @step(ptr %grid, ptr %next, ptr %solver, ptr %point, ptr %z) !dbg !10 {
  ret void
}

define void @_ZN4Grid5scaleEv(ptr %this) !dbg !50 {
  ret void
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "step.cpp", directory: "/home/u")
!3 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)
!4 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !3, size: 64)
!5 = !DIBasicType(name: "complex double", size: 128, encoding: DW_ATE_complex_float)

!10 = distinct !DISubprogram(name: "step", scope: !2, file: !2, line: 3, type: !11, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !13)
!11 = !DISubroutineType(types: !12)
!12 = !{null, !22, !23, !33, !43, !45}
!13 = !{!14, !15, !16, !17, !18}
!14 = !DILocalVariable(name: "grid", arg: 1, scope: !10, file: !2, line: 3, type: !22)
!15 = !DILocalVariable(name: "next", arg: 2, scope: !10, file: !2, line: 3, type: !23)
!16 = !DILocalVariable(name: "solver", arg: 3, scope: !10, file: !2, line: 3, type: !33)
!17 = !DILocalVariable(name: "point", arg: 4, scope: !10, file: !2, line: 3, type: !43)
!18 = !DILocalVariable(name: "z", arg: 5, scope: !10, file: !2, line: 3, type: !45)

!20 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Grid", file: !2, line: 1, size: 64, elements: !25)
!21 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !20)
!22 = !DIDerivedType(tag: DW_TAG_reference_type, baseType: !21, size: 64)
!23 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !20, size: 64)
!24 = !DIDerivedType(tag: DW_TAG_member, name: "u", scope: !20, file: !2, line: 1, baseType: !4, size: 64)

!30 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Solver", file: !2, line: 1, size: 128, elements: !34)
!31 = !DIDerivedType(tag: DW_TAG_member, name: "_vptr$Solver", scope: !2, file: !2, baseType: !4, size: 64, flags: DIFlagArtificial)
!32 = !DIDerivedType(tag: DW_TAG_member, name: "u", scope: !30, file: !2, line: 1, baseType: !4, size: 64, offset: 64)
!33 = !DIDerivedType(tag: DW_TAG_reference_type, baseType: !30, size: 64)

!40 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Point", file: !2, line: 1, size: 64, elements: !42)
!41 = !DIDerivedType(tag: DW_TAG_member, name: "x", scope: !40, file: !2, line: 1, baseType: !3, size: 64)
!43 = !DIDerivedType(tag: DW_TAG_reference_type, baseType: !40, size: 64)
!44 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "complex<double>", file: !2, line: 1, size: 128, elements: !47)
!45 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !44, size: 64)
!46 = !DIDerivedType(tag: DW_TAG_member, name: "_M_value", scope: !44, file: !2, line: 1, baseType: !5, size: 128)

!50 = distinct !DISubprogram(name: "scale", linkageName: "_ZN4Grid5scaleEv", scope: !20, file: !2, line: 2, type: !51, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !53)
!51 = !DISubroutineType(types: !52)
!52 = !{null, !55}
!53 = !{!54}
!54 = !DILocalVariable(name: "this", arg: 1, scope: !50, file: !2, line: 2, type: !55, flags: DIFlagArtificial | DIFlagObjectPointer)
!55 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !20, size: 64, flags: DIFlagArtificial | DIFlagObjectPointer)
!25 = !{!24}
!34 = !{!31, !32}
!42 = !{!41}
!47 = !{!46}
