; A struct that a C++ function returns is written through the last parameter of its body, which the signature has as well: from the
; registers that the ABI returns it in, which may be larger, or by the function itself.
;
; struct Three { float x, y, z; };   Three three(const float *x);   struct Big { double a[5]; };   Big big(int n);
;
; RUN: %opt -passes='adgen-make-bodies<three;big>' -S %s | %filecheck %s
; RUN: %opt -passes=adgen-describe -disable-output %s | %filecheck %s --check-prefix=SIGNATURE

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define { <2 x float>, float } @three(ptr noundef %x) !dbg !10 {
  ret { <2 x float>, float } zeroinitializer
}

define void @big(ptr dead_on_unwind noalias writable sret([40 x i8]) align 8 %agg.result, i32 noundef %n) !dbg !20 {
  ret void
}

; CHECK: define void @adgen_body_three(ptr "adgen-layout"="4[0f4]" %x, ptr noalias "adgen-layout"="4[0f4]" %return)
; CHECK:         [[REGISTERS:%.*]] = alloca { <2 x float>, float }
; CHECK:         [[THREE:%.*]] = call { <2 x float>, float } @three(ptr noundef %x)
; CHECK-NEXT:    store { <2 x float>, float } [[THREE]], ptr [[REGISTERS]]
; CHECK-NEXT:    call void @llvm.memcpy.p0.p0.i64(ptr align 1 %return, ptr align 8 [[REGISTERS]], i64 12, i1 false)
; CHECK-NEXT:    ret void

; CHECK: define void @adgen_body_big(i32 %n, ptr noalias {{.*}}%return)
; CHECK:         call void @big(ptr dead_on_unwind noalias writable sret([40 x i8]) align 8 %return, i32 noundef %n)
; CHECK-NEXT:    ret void
; CHECK-NOT: adgen-result

; SIGNATURE:       "name": "three",
; SIGNATURE:         "name": "x",
; SIGNATURE:         "name": "return",
; SIGNATURE:           "kind": "pointer",
; SIGNATURE:             "name": "Three",
; SIGNATURE:       "returns": {
; SIGNATURE-NEXT:    "kind": "void",
; SIGNATURE:       "name": "big",
; SIGNATURE:         "name": "n",
; SIGNATURE:         "name": "return",
; SIGNATURE:       "returns": {
; SIGNATURE-NEXT:    "kind": "void",

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "f.cpp", directory: "/home/u")
!3 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)
!4 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!5 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!6 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Three", file: !2, size: 96, elements: !{!30, !31, !32})
!7 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Big", file: !2, size: 320, elements: !{!33})
!8 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !4)
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !8, size: 64)
!10 = distinct !DISubprogram(name: "three", scope: !2, file: !2, line: 4, type: !11, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !{!12})
!11 = !DISubroutineType(types: !{!6, !9})
!12 = !DILocalVariable(name: "x", arg: 1, scope: !10, file: !2, line: 4, type: !9)
!20 = distinct !DISubprogram(name: "big", scope: !2, file: !2, line: 5, type: !21, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !{!22})
!21 = !DISubroutineType(types: !{!7, !5})
!22 = !DILocalVariable(name: "n", arg: 1, scope: !20, file: !2, line: 5, type: !5)
!30 = !DIDerivedType(tag: DW_TAG_member, name: "x", scope: !6, file: !2, baseType: !4, size: 32)
!31 = !DIDerivedType(tag: DW_TAG_member, name: "y", scope: !6, file: !2, baseType: !4, size: 32, offset: 32)
!32 = !DIDerivedType(tag: DW_TAG_member, name: "z", scope: !6, file: !2, baseType: !4, size: 32, offset: 64)
!33 = !DIDerivedType(tag: DW_TAG_member, name: "a", scope: !7, file: !2, baseType: !34, size: 320)
!34 = !DICompositeType(tag: DW_TAG_array_type, baseType: !3, size: 320, elements: !{!35})
!35 = !DISubrange(count: 5)
