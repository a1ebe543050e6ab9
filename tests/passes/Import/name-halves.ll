; A class of 16 bits that is converted to floats, or made of them, has the name of the number that it holds; one that
; counts keeps its own.
;
; RUN: %opt -passes='adgen-name-halves' -S %s | %filecheck %s

; CHECK-DAG: !DICompositeType(tag: DW_TAG_structure_type, name: "__nv_bfloat16", {{.*}}identifier: "brain"
; CHECK-DAG: !DICompositeType(tag: DW_TAG_structure_type, name: "__half", {{.*}}identifier: "half"
; CHECK-DAG: !DICompositeType(tag: DW_TAG_structure_type, name: "Count", {{.*}}identifier: "count"
; CHECK-DAG: !DICompositeType(tag: DW_TAG_structure_type, name: "__nv_bfloat16", {{.*}}identifier: "cut"
; CHECK-DAG: !DICompositeType(tag: DW_TAG_structure_type, name: "__half", {{.*}}identifier: "copied"
; CHECK-DAG: !DICompositeType(tag: DW_TAG_structure_type, name: "Half", {{.*}}identifier: "mine"

; PyTorch's is known where it is only copied.
define void @copied(ptr %x, ptr %mine) !dbg !14 {
  ret void
}

define float @brain(ptr %this) !dbg !10 {
  %at = alloca ptr
  store ptr %this, ptr %at
  %class = load ptr, ptr %at
  %bits = load i16, ptr %class
  %number = call float @up(i16 %bits)
  ret float %number
}

define internal float @up(i16 %bits) {
  %wide = zext i16 %bits to i32
  %up = shl i32 %wide, 16
  %number = bitcast i32 %up to float
  ret float %number
}

define float @half(ptr %this) !dbg !11 {
  %number = load half, ptr %this
  %wide = fpext half %number to float
  ret float %wide
}

define float @count(ptr %this) !dbg !12 {
  %bits = load i16, ptr %this
  %number = uitofp i16 %bits to float
  ret float %number
}

define void @cut(ptr %this, float %x) !dbg !13 {
entry:
  %none = fcmp uno float %x, %x
  br i1 %none, label %nan, label %number
nan:
  br label %end
number:
  %of = bitcast float %x to i32
  %down = lshr i32 %of, 16
  %word = trunc i32 %down to i16
  br label %end
end:
  %bits = phi i16 [ 32704, %nan ], [ %word, %number ]
  store i16 %bits, ptr %this
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.cpp", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DIBasicType(name: "unsigned short", size: 16, encoding: DW_ATE_unsigned)
!4 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!10 = distinct !DISubprogram(name: "operator float", file: !1, line: 1, type: !20, spFlags: DISPFlagDefinition, unit: !0)
!11 = distinct !DISubprogram(name: "operator float", file: !1, line: 2, type: !21, spFlags: DISPFlagDefinition, unit: !0)
!12 = distinct !DISubprogram(name: "operator float", file: !1, line: 3, type: !22, spFlags: DISPFlagDefinition, unit: !0)
!13 = distinct !DISubprogram(name: "Cut", file: !1, line: 4, type: !23, spFlags: DISPFlagDefinition, unit: !0)
!14 = distinct !DISubprogram(name: "copied", file: !1, line: 5, type: !24, spFlags: DISPFlagDefinition, unit: !0)
!20 = !DISubroutineType(types: !{!4, !30})
!21 = !DISubroutineType(types: !{!4, !31})
!22 = !DISubroutineType(types: !{!4, !32})
!23 = !DISubroutineType(types: !{null, !33, !4})
!24 = !DISubroutineType(types: !{null, !34, !35})
!30 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !40, size: 64, flags: DIFlagArtificial)
!31 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !41, size: 64, flags: DIFlagArtificial)
!32 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !42, size: 64, flags: DIFlagArtificial)
!33 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !43, size: 64, flags: DIFlagArtificial)
!34 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !44, size: 64)
!35 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !45, size: 64)
!40 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Brain", file: !1, line: 1, size: 16, elements: !50, identifier: "brain")
!41 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Half", file: !1, line: 2, size: 16, elements: !50, identifier: "half")
!42 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Count", file: !1, line: 3, size: 16, elements: !50, identifier: "count")
!43 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Cut", file: !1, line: 4, size: 16, elements: !50, identifier: "cut")
!44 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Half", scope: !46, file: !1, line: 5, size: 16, elements: !50, identifier: "copied")
!45 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Half", file: !1, line: 5, size: 16, elements: !50, identifier: "mine")
!46 = !DINamespace(name: "c10", scope: null)
!50 = !{!51}
!51 = !DIDerivedType(tag: DW_TAG_member, name: "bits", file: !1, line: 1, baseType: !3, size: 16)
