; A vector that a C++ function returns, or changes the size of, is a local one of its body, whose elements are copied to the array that
; stands for it; where they are more or fewer, the runtime is told. One that it gets by value is a copy.
;
; vector<double> made(int n);   void resized(vector<double> &y);   void taken(vector<double> y);
;
; RUN: %opt -passes='adgen-make-bodies<made;resized@0;taken@0>' -S %s | %filecheck %s
; RUN: %opt -passes='adgen-make-bodies<made>' -S %s | %filecheck %s --check-prefix=TELLS

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define void @made(ptr dead_on_unwind noalias writable sret([24 x i8]) align 8 %agg.result, i32 noundef %n) !dbg !20 {
  ret void
}
define void @resized(ptr noundef %y) !dbg !30 {
  ret void
}
define void @taken(ptr noundef %y) !dbg !33 {
  ret void
}

; CHECK-LABEL: define void @adgen_body_made(i32 %n, ptr "adgen-by-address" {{.*}}"adgen-struct"="24" %return)
; CHECK:         [[OWN:%.*]] = alloca [3 x ptr], align 8
; CHECK:         call void @made(ptr dead_on_unwind noalias writable sret([24 x i8]) align 8 [[OWN]], i32 noundef %n)
; CHECK:         [[BYTES:%.*]] = sub i64
; CHECK:         [[ROOM:%.*]] = sub i64
; CHECK:         icmp eq i64 [[BYTES]], [[ROOM]]
; CHECK:       fits:
; CHECK-NEXT:    call void @llvm.memcpy.p0.p0.i64(ptr align 8 %given, ptr align 8 [[BEGIN:%.*]], i64 [[BYTES]], i1 false)
; CHECK:       other.size:
; CHECK:         call void @adgen_other_size(i64 {{.*}}, i64 {{.*}}, ptr [[BEGIN]], i64 [[BYTES]], i64 8, ptr @adgen_vector_name)
; CHECK:       handed.back:
; CHECK:         icmp eq ptr {{.*}}, null
; CHECK:         call void @_ZdlPv(ptr

; CHECK-LABEL: define void @adgen_body_resized(ptr "adgen-by-address"
; CHECK:         [[BEGIN:%.*]] = call noalias ptr @_Znwm(i64 %room)
; CHECK:         call void @llvm.memcpy.p0.p0.i64(ptr align 8 [[BEGIN]], ptr align 8 %given, i64 %room, i1 false)
; CHECK:         call void @resized(ptr noundef %own)
; CHECK:         call void @adgen_other_size(
; CHECK:         call void @_ZdlPv(ptr

; CHECK-LABEL: define void @adgen_body_taken(
; CHECK:         call void @taken(ptr noundef %own)
; CHECK-NOT:     @adgen_other_size
; CHECK:         call void @_ZdlPv(ptr
; CHECK:         ret void

; TELLS: declare void @adgen_other_size(i64, i64, ptr captures(none), i64, i64, ptr captures(none)) [[SAID:#[0-9]+]]
; TELLS: attributes [[SAID]] = { nofree nounwind willreturn memory(argmem: read, inaccessiblemem: readwrite) "enzyme_inactive"

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "f.cpp", directory: "/home/u")
!3 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)
!4 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!5 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !3, size: 64)
!6 = !DICompositeType(tag: DW_TAG_class_type, name: "allocator<double>", file: !2, size: 8, elements: !{}, identifier: "_ZTSSaIdE")
!7 = distinct !DICompositeType(tag: DW_TAG_class_type, name: "vector<double, std::allocator<double> >", file: !2, size: 192, elements: !{!8, !9, !10}, templateParams: !{!11, !12}, identifier: "_ZTSSt6vectorIdSaIdEE")
!8 = !DIDerivedType(tag: DW_TAG_member, name: "_M_start", scope: !7, file: !2, baseType: !5, size: 64)
!9 = !DIDerivedType(tag: DW_TAG_member, name: "_M_finish", scope: !7, file: !2, baseType: !5, size: 64, offset: 64)
!10 = !DIDerivedType(tag: DW_TAG_member, name: "_M_end_of_storage", scope: !7, file: !2, baseType: !5, size: 64, offset: 128)
!11 = !DITemplateTypeParameter(name: "_Tp", type: !3)
!12 = !DITemplateTypeParameter(name: "_Alloc", type: !6)
!13 = !DIDerivedType(tag: DW_TAG_reference_type, baseType: !7, size: 64)
!20 = distinct !DISubprogram(name: "made", scope: !2, file: !2, line: 4, type: !21, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !{!22})
!21 = !DISubroutineType(types: !{!7, !4})
!22 = !DILocalVariable(name: "n", arg: 1, scope: !20, file: !2, line: 4, type: !4)
!30 = distinct !DISubprogram(name: "resized", scope: !2, file: !2, line: 5, type: !31, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !{!32})
!31 = !DISubroutineType(types: !{null, !13})
!32 = !DILocalVariable(name: "y", arg: 1, scope: !30, file: !2, line: 5, type: !13)
!33 = distinct !DISubprogram(name: "taken", scope: !2, file: !2, line: 6, type: !34, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !{!35})
!34 = !DISubroutineType(types: !{null, !7})
!35 = !DILocalVariable(name: "y", arg: 1, scope: !33, file: !2, line: 6, type: !7)
