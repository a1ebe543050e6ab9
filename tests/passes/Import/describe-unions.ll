; A union that only gives the same floats several names is its largest member; what has no name lends its members. A union of anything
; else is not known.
;
; struct Two { union { float x, r; }; union { struct { float y, z; }; float data[2]; }; };   union Word { float f; int i; };
; void move(Two *two, Word *word);
;
; RUN: %opt -passes=adgen-describe -disable-output %s | %filecheck %s

target triple = "x86_64-unknown-linux-gnu"

; CHECK:     "name": "two",
; CHECK:         "kind": "struct",
; CHECK:           "name": "x",
; CHECK-NEXT:      "offset": 0,
; CHECK:             "kind": "float",
; CHECK:           "name": "y",
; CHECK-NEXT:      "offset": 4,
; CHECK:           "name": "z",
; CHECK-NEXT:      "offset": 8,
; CHECK:     "name": "word",
; CHECK:         "kind": "opaque",
; CHECK:         "name": "the union Word",
define void @move(ptr %two, ptr %word) !dbg !10 {
  ret void
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "move.cpp", directory: "/home/u")
!3 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!4 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)

!10 = distinct !DISubprogram(name: "move", scope: !2, file: !2, line: 3, type: !11, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !13)
!11 = !DISubroutineType(types: !12)
!12 = !{null, !24, !34}
!13 = !{!14, !15}
!14 = !DILocalVariable(name: "two", arg: 1, scope: !10, file: !2, line: 3, type: !24)
!15 = !DILocalVariable(name: "word", arg: 2, scope: !10, file: !2, line: 3, type: !34)

!20 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Two", file: !2, line: 1, size: 96, elements: !21)
!21 = !{!22, !23}
!22 = !DIDerivedType(tag: DW_TAG_member, scope: !20, file: !2, line: 1, baseType: !40, size: 32)
!23 = !DIDerivedType(tag: DW_TAG_member, scope: !20, file: !2, line: 1, baseType: !50, size: 64, offset: 32)
!24 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !20, size: 64)

!30 = distinct !DICompositeType(tag: DW_TAG_union_type, name: "Word", file: !2, line: 2, size: 32, elements: !31)
!31 = !{!32, !33}
!32 = !DIDerivedType(tag: DW_TAG_member, name: "f", scope: !30, file: !2, line: 2, baseType: !3, size: 32)
!33 = !DIDerivedType(tag: DW_TAG_member, name: "i", scope: !30, file: !2, line: 2, baseType: !4, size: 32)
!34 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !30, size: 64)

!40 = distinct !DICompositeType(tag: DW_TAG_union_type, scope: !20, file: !2, line: 1, size: 32, elements: !41)
!41 = !{!42, !43}
!42 = !DIDerivedType(tag: DW_TAG_member, name: "x", scope: !40, file: !2, line: 1, baseType: !3, size: 32)
!43 = !DIDerivedType(tag: DW_TAG_member, name: "r", scope: !40, file: !2, line: 1, baseType: !3, size: 32)

!50 = distinct !DICompositeType(tag: DW_TAG_union_type, scope: !20, file: !2, line: 1, size: 64, elements: !51)
!51 = !{!52, !53}
!52 = !DIDerivedType(tag: DW_TAG_member, scope: !50, file: !2, line: 1, baseType: !60, size: 64)
!53 = !DIDerivedType(tag: DW_TAG_member, name: "data", scope: !50, file: !2, line: 1, baseType: !70, size: 64)
!60 = distinct !DICompositeType(tag: DW_TAG_structure_type, scope: !50, file: !2, line: 1, size: 64, elements: !61)
!61 = !{!62, !63}
!62 = !DIDerivedType(tag: DW_TAG_member, name: "y", scope: !60, file: !2, line: 1, baseType: !3, size: 32)
!63 = !DIDerivedType(tag: DW_TAG_member, name: "z", scope: !60, file: !2, line: 1, baseType: !3, size: 32, offset: 32)
!70 = !DICompositeType(tag: DW_TAG_array_type, baseType: !3, size: 64, elements: !71)
!71 = !{!72}
!72 = !DISubrange(count: 2)
