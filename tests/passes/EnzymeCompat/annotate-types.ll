; A fork says what the region finds behind the pointers that it is handed: nothing where that is of several kinds.
;
; RUN: %opt -passes='adgen-annotate-types' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 5, ptr @started, i32 %team,
; CHECK-SAME: ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Float@double}" %sum,
; CHECK-SAME: ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Pointer, [-1,0,-1]:Float@float}" %array,
; CHECK-SAME: ptr "enzyme_type"="{[-1]:Pointer}" %mixed,
; CHECK-SAME: ptr "enzyme_type"="{[-1]:Pointer, [-1,8]:Pointer}" %pair)
define void @f(i32 %team, ptr %sum, ptr %array, ptr %mixed, ptr %pair) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 5, ptr @started, i32 %team, ptr %sum, ptr %array, ptr %mixed, ptr %pair)
  ret void
}

define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr %sum, ptr %array, ptr %mixed, ptr %pair) {
  call void @region(ptr %sum, ptr %array, ptr %mixed, ptr %pair)
  ret void
}

define internal void @region(ptr %sum, ptr %array, ptr %mixed, ptr %pair) {
  %i = load i64, ptr %pair
  %second = getelementptr i8, ptr %pair, i64 8
  %unknown = load ptr, ptr %second
  store double 0.0, ptr %sum
  %data = load ptr, ptr %array
  %element = getelementptr float, ptr %data, i64 %i
  %value = load float, ptr %element
  %one = getelementptr i8, ptr %mixed, i64 %i
  store float %value, ptr %one
  store i64 %i, ptr %mixed
  ret void
}

; An array that need not be there: null has no uses that could say anything.
; CHECK-LABEL: define void @without_bias(
; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 1, ptr @biased, i32 %team, ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Float@float}" null)
define void @without_bias(i32 %team) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @biased, i32 %team, ptr null)
  ret void
}

define internal void @biased(ptr %thread, ptr %bound, i32 %team, ptr %bias) {
  %value = load float, ptr %bias
  ret void
}

; Of an array of structs one region reads the numbers alone: what else is there is seen in the other region.
; CHECK-LABEL: define void @twice(
; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 2, ptr @counts, i32 %team, ptr "enzyme_type"="{[-1]:Pointer}" %towns)
; CHECK: call {{.*}} @__kmpc_fork_call(ptr null, i32 2, ptr @numbers, i32 %team, ptr "enzyme_type"="{[-1]:Pointer}" %towns)
define void @twice(i32 %team, ptr %towns) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @counts, i32 %team, ptr %towns)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @numbers, i32 %team, ptr %towns)
  ret void
}

define internal void @counts(ptr %thread, ptr %bound, i32 %team, ptr %towns) {
  %place = load i32, ptr %bound
  %town = getelementptr { double, i32 }, ptr %towns, i32 %place
  %next = getelementptr i8, ptr %town, i64 8
  %read = load i32, ptr %next, !tbaa !4
  ret void
}

define internal void @numbers(ptr %thread, ptr %bound, i32 %team, ptr %towns) {
  %place = load i32, ptr %bound
  %town = getelementptr { double, i32 }, ptr %towns, i32 %place
  store double 0.0, ptr %town
  ret void
}

; Memory that is copied is of one type on both sides.
; CHECK-LABEL: define double @copied(
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %to, ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %from, i64 %n, i1 false)
; CHECK: call void @llvm.memset.p0.i64(ptr %bytes,
define double @copied(ptr %from, ptr %bytes, i64 %n) {
  %to = call ptr @malloc(i64 %n)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  call void @llvm.memset.p0.i64(ptr %bytes, i8 0, i64 %n, i1 false)
  %at = getelementptr double, ptr %to, i64 %n
  %value = load double, ptr %at
  ret double %value
}

declare ptr @malloc(i64)
; A copy of the user's integers; of a buffer of bytes nothing is said.
; CHECK-LABEL: define void @integers(
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Integer}" %to, ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Integer}" %from, i64 %n, i1 false)
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %buffer, i64 %n, i1 false)
define void @integers(ptr %to, ptr "adgen-layout"="4[0i4]" %from, i64 %n) {
  %buffer = alloca [64 x i8]
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %buffer, i64 %n, i1 false)
  ret void
}

; A vector in a vector grows: clang says what is stored in the new memory. A member of a struct says nothing of the others.
; CHECK-LABEL: define void @grows(
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Integer}" %new, ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Integer}" %old, i64 %n, i1 false)
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr %structs, ptr %olds, i64 %n, i1 false)
define void @grows(ptr %row, i64 %n, i32 %number) {
  %old = load ptr, ptr %row
  %new = call ptr @malloc(i64 %n)
  %end = getelementptr i8, ptr %new, i64 %n
  store i32 %number, ptr %end, !tbaa !0
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %old, i64 %n, i1 false)
  %olds = load ptr, ptr %row
  %structs = call ptr @malloc(i64 %n)
  %last = getelementptr i8, ptr %structs, i64 %n
  store i32 %number, ptr %last, !tbaa !4
  call void @llvm.memcpy.p0.p0.i64(ptr %structs, ptr %olds, i64 %n, i1 false)
  ret void
}

; Buckets that are cleared, as what is stored in them by another copy of the pointer says.
; CHECK-LABEL: define void @buckets(
; CHECK: call void @llvm.memset.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Pointer}" %again, i8 0, i64 %n, i1 false)
define void @buckets(ptr %node, i64 %n) {
  %table = alloca { ptr, i64 }
  %first = call ptr @malloc(i64 %n)
  store ptr %first, ptr %table
  %here = load ptr, ptr %table
  %bucket = getelementptr ptr, ptr %here, i64 %n
  store ptr %node, ptr %bucket
  %again = load ptr, ptr %table
  call void @llvm.memset.p0.i64(ptr %again, i8 0, i64 %n, i1 false)
  ret void
}

; A vector's pointers in an array of structs that have a number, too: the bytes that are cleared are known by what is loaded from them.
; CHECK-LABEL: define void @members(
; CHECK: call void @llvm.memset.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Pointer, [-1,8]:Pointer}" %vector, i8 0, i64 16, i1 false)
; CHECK: call void @llvm.memset.p0.i64(ptr %at, i8 0, i64 16, i1 false)
define void @members(ptr %from, ptr %to, ptr %end) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %from, %entry ], [ %next, %loop ]
  %count = load i64, ptr %at, !tbaa !4
  store i64 %count, ptr %to
  %vector = getelementptr i8, ptr %at, i64 8
  %begin = load ptr, ptr %vector
  store ptr %begin, ptr %to
  %behind = getelementptr i8, ptr %vector, i64 8
  %finish = load ptr, ptr %behind
  store ptr %finish, ptr %to
  call void @llvm.memset.p0.i64(ptr %vector, i8 0, i64 16, i1 false)
  call void @llvm.memset.p0.i64(ptr %at, i8 0, i64 16, i1 false)
  %next = getelementptr i8, ptr %at, i64 24
  %done = icmp eq ptr %next, %end
  br i1 %done, label %out, label %loop
out:
  ret void
}

; Of which nothing is seen of the second member: it may be a number.
; CHECK-LABEL: define void @first_of_two(
; CHECK: call void @llvm.memset.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Pointer}" %list, i8 0, i64 16, i1 false)
define void @first_of_two(ptr %table, ptr %to) {
  %count = load i64, ptr %table, !tbaa !4
  store i64 %count, ptr %to
  %list = getelementptr i8, ptr %table, i64 8
  %node = load ptr, ptr %list
  store ptr %node, ptr %to
  call void @llvm.memset.p0.i64(ptr %list, i8 0, i64 16, i1 false)
  ret void
}

; One of two arrays is copied, and what is in them was stored by their own names.
; CHECK-LABEL: define void @either(
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %to, ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %from, i64 %n, i1 false)
define void @either(i1 %which, ptr %to, i64 %n, double %x) {
entry:
  br i1 %which, label %fill, label %copy
fill:
  %new = call noalias ptr @_Znwm(i64 %n)
  store double %x, ptr %new
  br label %copy
copy:
  %from = phi ptr [ null, %entry ], [ %new, %fill ]
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
}
declare noalias ptr @_Znwm(i64)

; The first element is a constant, which the optimiser stores as an integer.
; CHECK-LABEL: define void @one_and_more(
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %to, ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %new, i64 %n, i1 false)
define void @one_and_more(ptr %to, i64 %n, double %x) {
  %new = call noalias ptr @_Znwm(i64 %n)
  store i64 4607182418800017408, ptr %new
  %next = getelementptr double, ptr %new, i64 1
  store double %x, ptr %next
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %new, i64 %n, i1 false)
  ret void
}

; A node of a tree: its address is kept, and what is behind the number is read elsewhere.
; CHECK-LABEL: define void @node(
; CHECK: call void @llvm.memset.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Float@double}" %node, i8 0, i64 16, i1 false)
define void @node(ptr %parent, double %x) {
  %node = call noalias ptr @_Znwm(i64 16)
  call void @llvm.memset.p0.i64(ptr %node, i8 0, i64 16, i1 false)
  store double %x, ptr %node
  store ptr %node, ptr %parent
  ret void
}

!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"omnipotent char", !3, i64 0}
!3 = !{!"Simple C++ TBAA"}
!4 = !{!5, !1, i64 0}
!5 = !{!"_ZTS4Pair", !1, i64 0, !6, i64 4}
!6 = !{!"float", !2, i64 0}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)

; A few members are cleared, and nothing is seen of the others: only these are named.
; CHECK-LABEL: define ptr @some_members(
; CHECK: call void @llvm.memset.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Pointer, [-1,8]:Pointer}" %structs, i8 0, i64 16, i1 false)
define ptr @some_members(ptr %structs) {
  call void @llvm.memset.p0.i64(ptr %structs, i8 0, i64 16, i1 false)
  %begin = load ptr, ptr %structs
  ret ptr %begin
}

; What is copied in a function that is called is known from what the caller's variable points to.
; CHECK-LABEL: define internal void @appends(
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %into, ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %from, i64 %n, i1 false)
define internal void @appends(ptr %into, ptr %place, i64 %n) {
  %from = load ptr, ptr %place
  call void @llvm.memcpy.p0.p0.i64(ptr %into, ptr %from, i64 %n, i1 false)
  %behind = getelementptr inbounds i8, ptr %from, i64 %n
  store ptr %behind, ptr %place
  ret void
}

define void @adgen_body_parts(ptr "adgen-layout"="8[0f8]" %x, ptr %into, i64 %n) {
  %place = alloca ptr
  store ptr %x, ptr %place
  call void @appends(ptr %into, ptr %place, i64 %n)
  call void @appends(ptr %into, ptr %place, i64 %n)
  ret void
}

; The sets of a vector begin empty: a loop clears members that are only used elsewhere, of which the steps between elements tell.
; CHECK-LABEL: define ptr @sets(
; CHECK: call void @llvm.memset.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,16]:Pointer}" %set, i8 0, i64 24, i1 false)
%set = type { [8 x i8], i32, ptr, ptr, ptr, i64 }
define ptr @sets(i64 %n) {
entry:
  %bytes = mul i64 %n, 48
  %new = call noalias ptr @_Znwm(i64 %bytes)
  br label %loop
loop:
  %set = phi ptr [ %new, %entry ], [ %next, %loop ]
  %left = phi i64 [ %n, %entry ], [ %fewer, %loop ]
  call void @llvm.memset.p0.i64(ptr %set, i8 0, i64 24, i1 false)
  %header = getelementptr i8, ptr %set, i64 8
  %leftmost = getelementptr i8, ptr %set, i64 24
  store ptr %header, ptr %leftmost
  %count = getelementptr i8, ptr %set, i64 40
  store i64 0, ptr %count
  %fewer = add i64 %left, -1
  %next = getelementptr i8, ptr %set, i64 48
  %done = icmp eq i64 %fewer, 0
  br i1 %done, label %exit, label %loop
exit:
  %end = getelementptr %set, ptr %new, i64 %n
  %first = load i64, ptr %count
  ret ptr %end
}

; All bits set are integers, whatever else is known of the struct: a node's number, its children and a sum.
; CHECK-LABEL: define void @appended(
; CHECK: call void @llvm.memset.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Integer, [-1,1]:Integer, [-1,2]:Integer, [-1,3]:Integer, [-1,4]:Integer, [-1,5]:Integer, [-1,6]:Integer, [-1,7]:Integer}" %children, i8 -1, i64 8, i1 false)
; CHECK: call void @llvm.memset.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,-1]:Integer}" %all, i8 -1, i64 %n, i1 false)
define void @appended(ptr %end, ptr %all, i64 %n, double %x) {
  %node = load ptr, ptr %end
  store double %x, ptr %node
  %children = getelementptr inbounds i8, ptr %node, i64 8
  call void @llvm.memset.p0.i64(ptr %children, i8 -1, i64 8, i1 false)
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 %n, i1 false)
  ret void
}

; New memory that is only cleared has the type of the elements that are read through the variable that keeps its address.
; Members of a struct there do not tell what else is in it.
; CHECK-LABEL: define double @kept(
; CHECK: call void @llvm.memset.p0.i64(ptr "enzyme_type"="{[-1]:Pointer, [-1,0]:Float@double, [-1,8]:Float@double}" %next, i8 0, i64 16, i1 false)
; CHECK: call void @llvm.memset.p0.i64(ptr %other, i8 0, i64 16, i1 false)
define double @kept(i1 %grow, i64 %i) {
  %vectors = alloca [2 x ptr]
  %second = getelementptr i8, ptr %vectors, i64 8
  %new = call noalias ptr @_Znwm(i64 64)
  %next = getelementptr i8, ptr %new, i64 16
  call void @llvm.memset.p0.i64(ptr %next, i8 0, i64 16, i1 false)
  %either = select i1 %grow, ptr %new, ptr null
  store ptr %either, ptr %vectors
  %other = call noalias ptr @_Znwm(i64 16)
  call void @llvm.memset.p0.i64(ptr %other, i8 0, i64 16, i1 false)
  store ptr %other, ptr %second
  %first = load ptr, ptr %vectors
  %element = getelementptr double, ptr %first, i64 %i
  %x = load double, ptr %element
  %node = load ptr, ptr %second
  %member = getelementptr i8, ptr %node, i64 8
  %y = load double, ptr %member
  %sum = fadd double %x, %y
  ret double %sum
}

; A number that is only copied, of which clang's word is lost, gets one of our own; where there is one it stays, and integers get none.
; CHECK-LABEL: define void @copied_numbers(
; CHECK:         %x = load double, ptr %from, align 8, !tbaa ![[DOUBLE:[0-9]+]]
; CHECK-NEXT:    store double %x, ptr %to, align 8, !tbaa ![[DOUBLE]]
; CHECK-NEXT:    %pair = load <2 x float>, ptr %from, align 8, !tbaa ![[FLOAT:[0-9]+]]
; CHECK-NEXT:    %i = load i64, ptr %from, align 8
; CHECK-NEXT:    %known = load double, ptr %to, align 8, !tbaa ![[KNOWN:[0-9]+]]
define void @copied_numbers(ptr %from, ptr %to) {
  %x = load double, ptr %from, align 8
  store double %x, ptr %to, align 8
  %pair = load <2 x float>, ptr %from, align 8
  %i = load i64, ptr %from, align 8
  %known = load double, ptr %to, align 8, !tbaa !90
  ret void
}

!90 = !{!91, !91, i64 0}
!91 = !{!"double", !92, i64 0}
!92 = !{!"omnipotent char", !93, i64 0}
!93 = !{!"Simple C++ TBAA"}

; CHECK-DAG: ![[DOUBLE]] = !{![[NUMBER:[0-9]+]], ![[NUMBER]], i64 0}
; CHECK-DAG: ![[NUMBER]] = !{!"double", ![[ROOT:[0-9]+]], i64 0}
; CHECK-DAG: ![[ROOT]] = !{!"adgen double"}
