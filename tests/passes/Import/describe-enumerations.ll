; An enumeration has the kind of the type that the program names for it. Where it names none, the compiler's choice has the size of int, and is taken for it.
;
; enum Small : unsigned char;   enum class Scoped : unsigned;   enum Plain { ... };
; void mark(Small small, Scoped scoped, Plain plain);
;
; RUN: %opt -passes=adgen-describe -disable-output %s | %filecheck %s

target triple = "x86_64-unknown-linux-gnu"

; CHECK:      "kind": "uint",
; CHECK-NEXT: "name": "Small",
; CHECK:      "kind": "uint",
; CHECK-NEXT: "name": "Scoped",
; CHECK:      "kind": "int",
; CHECK-NEXT: "name": "Plain",
define void @mark(i8 %small, i32 %scoped, i32 %plain) !dbg !10 {
  ret void
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "mark.cpp", directory: "/home/u")
!3 = !DIBasicType(name: "unsigned char", size: 8, encoding: DW_ATE_unsigned_char)
!4 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)

!10 = distinct !DISubprogram(name: "mark", scope: !2, file: !2, line: 4, type: !11, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !13)
!11 = !DISubroutineType(types: !12)
!12 = !{null, !20, !21, !22}
!13 = !{!14, !15, !16}
!14 = !DILocalVariable(name: "small", arg: 1, scope: !10, file: !2, line: 4, type: !20)
!15 = !DILocalVariable(name: "scoped", arg: 2, scope: !10, file: !2, line: 4, type: !21)
!16 = !DILocalVariable(name: "plain", arg: 3, scope: !10, file: !2, line: 4, type: !22)

!20 = distinct !DICompositeType(tag: DW_TAG_enumeration_type, name: "Small", file: !2, line: 1, baseType: !3, size: 8, elements: !23)
!21 = distinct !DICompositeType(tag: DW_TAG_enumeration_type, name: "Scoped", file: !2, line: 2, baseType: !4, size: 32, flags: DIFlagEnumClass, elements: !23)
!22 = distinct !DICompositeType(tag: DW_TAG_enumeration_type, name: "Plain", file: !2, line: 3, baseType: !4, size: 32, elements: !23)
!23 = !{!24}
!24 = !DIEnumerator(name: "none", value: 0, isUnsigned: true)
