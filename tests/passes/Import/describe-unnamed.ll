; A struct without a name is called as the program calls it, by the first name that is given to it, and else by what it is.
;
; typedef struct { double x; } Point;   typedef Point Place;   struct { double y; } of no name
; void move(const Place *place, <unnamed> *other);
;
; RUN: %opt -passes=adgen-describe -disable-output %s | %filecheck %s

target triple = "x86_64-unknown-linux-gnu"

; CHECK:     "name": "place",
; CHECK:         "kind": "struct",
; CHECK:         "name": "Point",
; CHECK:     "name": "other",
; CHECK:         "kind": "struct",
; CHECK:         "name": "(unnamed)",
define void @move(ptr %place, ptr %other) !dbg !10 {
  ret void
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "move.cpp", directory: "/home/u")
!3 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)

!10 = distinct !DISubprogram(name: "move", scope: !2, file: !2, line: 3, type: !11, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !13)
!11 = !DISubroutineType(types: !12)
!12 = !{null, !24, !34}
!13 = !{!14, !15}
!14 = !DILocalVariable(name: "place", arg: 1, scope: !10, file: !2, line: 3, type: !24)
!15 = !DILocalVariable(name: "other", arg: 2, scope: !10, file: !2, line: 3, type: !34)

!20 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !2, line: 1, size: 64, elements: !26)
!21 = !DIDerivedType(tag: DW_TAG_typedef, name: "Point", file: !2, line: 1, baseType: !20)
!22 = !DIDerivedType(tag: DW_TAG_typedef, name: "Place", file: !2, line: 1, baseType: !21)
!23 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !22)
!24 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !23, size: 64)
!25 = !DIDerivedType(tag: DW_TAG_member, name: "x", scope: !20, file: !2, line: 1, baseType: !3, size: 64)
!26 = !{!25}

!30 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !2, line: 2, size: 64, elements: !36)
!34 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !30, size: 64)
!35 = !DIDerivedType(tag: DW_TAG_member, name: "y", scope: !30, file: !2, line: 2, baseType: !3, size: 64)
!36 = !{!35}
