; The body of a C++ function has one argument a parameter as the user wrote it: a struct by value, which the ABI takes apart into
; eightbytes (or hands over in memory), is a pointer again, and what the function returns is stored through the last argument.
;
; struct Pair { double a, b; }; struct Small { float a, b; }; struct Big { double a[5]; };
; double f(Pair p, Small s, Big b, const double *x, int n);   void g(float *x);
;
; RUN: %opt -passes='adgen-make-bodies<f;g>' -S %s | %filecheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK: define noundef double @f({{.*}}) [[INLINED:#[0-9]+]]
define noundef double @f(double %p.coerce0, double %p.coerce1, <2 x float> %s.coerce, ptr noundef byval([40 x i8]) align 8 %b, ptr noundef %x, i32 noundef %n) noinline !dbg !10 {
  ret double %p.coerce0
}

define void @g(ptr %x) !dbg !20 {
  ret void
}

; CHECK: define void @adgen_body_f(ptr noalias "adgen-struct"="16" %p, ptr noalias "adgen-struct"="8" %s, ptr noalias "adgen-struct"="40" %b, ptr "adgen-layout"="8[0f8]" %x, i32 %n, ptr %0) [[RESULT:#[0-9]+]] !dbg [[PROGRAM:![0-9]+]] {
; CHECK-NEXT: entry:
; CHECK-NEXT:   [[AT0:%.*]] = getelementptr inbounds i8, ptr %p, i64 0
; CHECK-NEXT:   [[P0:%.*]] = load double, ptr [[AT0]]
; CHECK-NEXT:   [[AT8:%.*]] = getelementptr inbounds i8, ptr %p, i64 8
; CHECK-NEXT:   [[P1:%.*]] = load double, ptr [[AT8]]
; CHECK-NEXT:   [[AT_S:%.*]] = getelementptr inbounds i8, ptr %s, i64 0
; CHECK-NEXT:   [[S:%.*]] = load <2 x float>, ptr [[AT_S]]
; The call keeps the attributes of the ABI, and has a place, without which it could not be inlined into a described function.
; CHECK-NEXT:   [[VALUE:%.*]] = call noundef double @f(double [[P0]], double [[P1]], <2 x float> [[S]], ptr noundef byval([40 x i8]) align 8 %b, ptr noundef %x, i32 noundef %n), !dbg [[PLACE:![0-9]+]]
; CHECK-NEXT:   store double [[VALUE]], ptr %0
; CHECK-NEXT:   ret void

; A body without result is not marked.
; CHECK: define void @adgen_body_g(ptr "adgen-layout"="{{[^"]*}}" %x) !dbg

; CHECK-DAG: attributes [[INLINED]] = { alwaysinline }
; CHECK-DAG: attributes [[RESULT]] = { "adgen-result" }
; CHECK-DAG: [[PROGRAM]] = distinct !DISubprogram(name: "adgen_body_f", {{.*}}line: 4,
; CHECK-DAG: [[PLACE]] = !DILocation(line: 4, scope: [[PROGRAM]])

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "f.cpp", directory: "/home/u")
!3 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)
!4 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!5 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!6 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Pair", file: !2, size: 128, elements: !{})
!7 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Small", file: !2, size: 64, elements: !{})
!8 = distinct !DICompositeType(tag: DW_TAG_class_type, name: "Big", file: !2, size: 320, elements: !{})
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !3, size: 64)
!10 = distinct !DISubprogram(name: "f", scope: !2, file: !2, line: 4, type: !11, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !12)
!11 = !DISubroutineType(types: !{!3, !6, !7, !8, !9, !5})
!12 = !{!13, !14, !15, !16, !17}
!13 = !DILocalVariable(name: "p", arg: 1, scope: !10, file: !2, line: 4, type: !6)
!14 = !DILocalVariable(name: "s", arg: 2, scope: !10, file: !2, line: 4, type: !7)
!15 = !DILocalVariable(name: "b", arg: 3, scope: !10, file: !2, line: 4, type: !8)
!16 = !DILocalVariable(name: "x", arg: 4, scope: !10, file: !2, line: 4, type: !9)
!17 = !DILocalVariable(name: "n", arg: 5, scope: !10, file: !2, line: 4, type: !5)
!20 = distinct !DISubprogram(name: "g", scope: !2, file: !2, line: 5, type: !21, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !{!22})
!21 = !DISubroutineType(types: !{null, !9})
!22 = !DILocalVariable(name: "x", arg: 1, scope: !20, file: !2, line: 5, type: !9)
