; The signature of every function that is defined here and has debug information, as the user wrote it: qualified names,
; types without typedefs, members of bases at their offsets, and whether a pointer is to const, restrict or a reference.
;
; namespace fin {
; struct Base { float a; };
; struct Option : Base { double k[3]; unsigned flag : 1; const float *rates; };
; __global__ void price(const real *__restrict__ spot, double &out, Option option, bool call);   // typedef float real
; }
; static double local(unsigned char) { ... }
;
; RUN: %opt -passes=adgen-describe -disable-output %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK:      {
; CHECK-NEXT:   "entries": [
; CHECK:          "directory": "/home/u",
; CHECK-NEXT:     "dynamic_shared": false,
; CHECK-NEXT:     "file": "option.cu",
; CHECK-NEXT:     "kernel": true,
; CHECK-NEXT:     "line": 5,
; CHECK-NEXT:     "local": false,
; CHECK-NEXT:     "name": "fin::price",
; CHECK-NEXT:     "parameters": [
; CHECK-NEXT:       {
; CHECK-NEXT:         "by_address": false,
; CHECK-NEXT:         "const": false,
; CHECK-NEXT:         "name": "spot",
; CHECK-NEXT:         "reference": false,
; CHECK-NEXT:         "type": {
; CHECK-NEXT:           "const": true,
; CHECK-NEXT:           "kind": "pointer",
; CHECK-NEXT:           "name": "pointer",
; CHECK-NEXT:           "pointee": {
; CHECK-NEXT:             "kind": "float",
; CHECK-NEXT:             "name": "float",
; CHECK-NEXT:             "size": 4
; CHECK-NEXT:           },
; CHECK-NEXT:           "reference": false,
; CHECK-NEXT:           "restrict": true,
; CHECK-NEXT:           "size": 8
; CHECK-NEXT:         }
; CHECK-NEXT:       },
; CHECK-NEXT:       {
; CHECK-NEXT:         "by_address": false,
; CHECK-NEXT:         "const": false,
; CHECK-NEXT:         "name": "out",
; CHECK-NEXT:         "reference": false,
; CHECK-NEXT:         "type": {
; CHECK-NEXT:           "const": false,
; CHECK-NEXT:           "kind": "pointer",
; CHECK-NEXT:           "name": "pointer",
; CHECK-NEXT:           "pointee": {
; CHECK-NEXT:             "kind": "float",
; CHECK-NEXT:             "name": "double",
; CHECK-NEXT:             "size": 8
; CHECK-NEXT:           },
; CHECK-NEXT:           "reference": true,
; CHECK-NEXT:           "restrict": false,
; CHECK-NEXT:           "size": 8
; CHECK-NEXT:         }
; CHECK-NEXT:       },
; CHECK-NEXT:       {
; CHECK-NEXT:         "by_address": false,
; CHECK-NEXT:         "const": false,
; CHECK-NEXT:         "name": "option",
; CHECK-NEXT:         "reference": false,
; CHECK-NEXT:         "type": {
; CHECK-NEXT:           "kind": "struct",
; CHECK-NEXT:           "members": [
; The member of the base comes first.
; CHECK-NEXT:             {
; CHECK-NEXT:               "count": 1,
; CHECK-NEXT:               "name": "a",
; CHECK-NEXT:               "offset": 0,
; CHECK:                    "count": 3,
; CHECK-NEXT:               "name": "k",
; CHECK-NEXT:               "offset": 8,
; CHECK-NEXT:               "type": {
; CHECK-NEXT:                 "kind": "float",
; CHECK-NEXT:                 "name": "double",
; CHECK-NEXT:                 "size": 8
; CHECK:                    "name": "flag",
; CHECK:                      "kind": "opaque",
; CHECK-NEXT:                 "name": "a bit-field",
; CHECK:                    "name": "rates",
; CHECK-NEXT:               "offset": 40,
; CHECK-NEXT:               "type": {
; CHECK-NEXT:                 "const": true,
; CHECK-NEXT:                 "kind": "pointer",
; CHECK:                "name": "Option",
; CHECK-NEXT:           "size": 48
; CHECK:              "name": "call",
; CHECK-NEXT:         "reference": false,
; CHECK-NEXT:         "type": {
; CHECK-NEXT:           "kind": "bool",
; CHECK-NEXT:           "name": "bool",
; CHECK-NEXT:           "size": 1
; CHECK:          "returns": {
; CHECK-NEXT:       "kind": "void",
; CHECK-NEXT:       "name": "void",
; CHECK-NEXT:       "size": 0
; CHECK-NEXT:     },
; CHECK-NEXT:     "symbol": "_ZN3fin5priceEPKfRdNS_6OptionEb"

define ptx_kernel void @_ZN3fin5priceEPKfRdNS_6OptionEb(ptr %spot, ptr %out, ptr byval([48 x i8]) %option, i1 %call) !dbg !20 {
  ret void
}

; A parameter that the user gave no name is called by its place.
; CHECK:          "kernel": false,
; CHECK-NEXT:     "line": 9,
; CHECK-NEXT:     "local": true,
; CHECK-NEXT:     "name": "local",
; CHECK-NEXT:     "parameters": [
; CHECK-NEXT:       {
; CHECK-NEXT:         "by_address": false,
; CHECK-NEXT:         "const": false,
; CHECK-NEXT:         "name": "arg0",
; CHECK-NEXT:         "reference": false,
; CHECK-NEXT:         "type": {
; CHECK-NEXT:           "kind": "uint",
; CHECK-NEXT:           "name": "unsigned char",
; CHECK-NEXT:           "size": 1
; CHECK:          "returns": {
; CHECK-NEXT:       "kind": "float",
; CHECK-NEXT:       "name": "double",
; CHECK-NEXT:       "size": 8
; CHECK-NEXT:     },
; CHECK-NEXT:     "symbol": "_ZL5localh"

define internal double @_ZL5localh(i8 %0) !dbg !30 {
  ret double 0.0
}

; Declarations and what the compiler made itself are not there.
; CHECK-NOT: "symbol"

; What the user asked for by name, by the number of the variable that refers to it.
; CHECK:        "instances": {
; CHECK-NEXT:     "1": "_ZL5localh"
; CHECK-NEXT:   },
; What the host may set, but for what has a value of its own here: __device__ float fin::weights[2][3];
; CHECK-NEXT:   "variables": [
; CHECK-NEXT:     {
; CHECK-NEXT:       "directory": "/home/u",
; CHECK-NEXT:       "file": "option.cu",
; CHECK-NEXT:       "name": "weights",
; CHECK-NEXT:       "shape": [
; CHECK-NEXT:         2,
; CHECK-NEXT:         3
; CHECK-NEXT:       ],
; CHECK-NEXT:       "symbol": "_ZN3fin7weightsE",
; CHECK-NEXT:       "type": {
; CHECK-NEXT:         "kind": "float",
; CHECK-NEXT:         "name": "float",
; CHECK-NEXT:         "size": 4
; CHECK-NEXT:       }
; CHECK-NEXT:     }
; CHECK-NEXT:   ]
@_ZN3fin7weightsE = addrspace(1) externally_initialized global [2 x [3 x float]] zeroinitializer, !dbg !900
@fixed = addrspace(4) constant float 1.0, !dbg !910
@_ZL16adgen_instance_1 = internal global ptr @_ZL5localh
declare !dbg !33 void @elsewhere(i8)

define void @made_by_the_compiler() {
  ret void
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "option.cu", directory: "/home/u")
!3 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!4 = !DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)
!5 = !DIBasicType(name: "bool", size: 8, encoding: DW_ATE_boolean)
!6 = !DIBasicType(name: "unsigned char", size: 8, encoding: DW_ATE_unsigned_char)
!7 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!8 = !DIDerivedType(tag: DW_TAG_typedef, name: "real", file: !2, line: 1, baseType: !3)
!9 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !8)
!10 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !9, size: 64)
!11 = !DIDerivedType(tag: DW_TAG_restrict_type, baseType: !10)
!12 = !DIDerivedType(tag: DW_TAG_reference_type, baseType: !4, size: 64)
!13 = !DINamespace(name: "fin", scope: null)
!14 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Base", file: !2, size: 32, elements: !{!15})
!15 = !DIDerivedType(tag: DW_TAG_member, name: "a", baseType: !3, size: 32)
!16 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Option", scope: !13, file: !2, size: 384, elements: !{!17, !18, !24, !25})
!17 = !DIDerivedType(tag: DW_TAG_inheritance, baseType: !14)
!18 = !DIDerivedType(tag: DW_TAG_member, name: "k", baseType: !19, size: 192, offset: 64)
!19 = !DICompositeType(tag: DW_TAG_array_type, baseType: !4, size: 192, elements: !{!DISubrange(count: 3)})
!20 = distinct !DISubprogram(name: "price", linkageName: "_ZN3fin5priceEPKfRdNS_6OptionEb", scope: !13, file: !2, line: 5, type: !21, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !22)
!21 = !DISubroutineType(types: !{null, !11, !12, !16, !5})
!22 = !{!23, !26, !27, !28}
!23 = !DILocalVariable(name: "spot", arg: 1, scope: !20, file: !2, line: 5, type: !11)
!24 = !DIDerivedType(tag: DW_TAG_member, name: "flag", baseType: !7, size: 1, offset: 256, flags: DIFlagBitField, extraData: i64 256)
!25 = !DIDerivedType(tag: DW_TAG_member, name: "rates", baseType: !29, size: 64, offset: 320)
!26 = !DILocalVariable(name: "out", arg: 2, scope: !20, file: !2, line: 5, type: !12)
!27 = !DILocalVariable(name: "option", arg: 3, scope: !20, file: !2, line: 5, type: !16)
!28 = !DILocalVariable(name: "call", arg: 4, scope: !20, file: !2, line: 5, type: !5)
!29 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !9, size: 64)
!30 = distinct !DISubprogram(name: "local", linkageName: "_ZL5localh", scope: !2, file: !2, line: 9, type: !31, unit: !1, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition)
!31 = !DISubroutineType(types: !{!4, !6})
!33 = !DISubprogram(name: "elsewhere", scope: !2, file: !2, line: 10, type: !31, spFlags: 0)
!900 = !DIGlobalVariableExpression(var: !901, expr: !DIExpression())
!901 = distinct !DIGlobalVariable(name: "weights", linkageName: "_ZN3fin7weightsE", file: !2, line: 1, type: !902, isDefinition: true)
!902 = !DICompositeType(tag: DW_TAG_array_type, baseType: !3, size: 192, elements: !{!903, !904})
!903 = !DISubrange(count: 2)
!904 = !DISubrange(count: 3)
!910 = !DIGlobalVariableExpression(var: !911, expr: !DIExpression())
!911 = distinct !DIGlobalVariable(name: "fixed", file: !2, line: 1, type: !3, isDefinition: true)
