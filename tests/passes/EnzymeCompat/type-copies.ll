; Memory of floating point that is moved as integers is moved as what it is (adgen-layout says so); what cannot be followed is refused.
;
; RUN: %opt -passes=adgen-type-copies -S %s 2>/dev/null | %filecheck %s
; RUN: %opt -passes=adgen-type-copies -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED

target datalayout = "e-i64:64"

; A struct of two floats, copied as one integer.
; CHECK-LABEL: @adgen_body_pair(
; CHECK-NEXT: [[PAIR:%.*]] = load <2 x float>, ptr %x, align 8
; CHECK-NEXT: store <2 x float> [[PAIR]], ptr %y, align 8
; CHECK-NEXT: ret void
define void @adgen_body_pair(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y) {
  %v = load i64, ptr %x, align 8
  store i64 %v, ptr %y, align 8
  ret void
}

; The sign is turned where an integer says so, of which no other bit can be set.
; CHECK-LABEL: @adgen_body_turned(
; CHECK: [[X:%.*]] = load float, ptr %x
; CHECK: [[TURNS:%.*]] = icmp ne i32 %sign, 0
; CHECK: [[OPPOSITE:%.*]] = fneg float [[X]]
; CHECK: [[TURNED:%.*]] = select i1 [[TURNS]], float [[OPPOSITE]], float [[X]]
; CHECK: fadd float [[TURNED]], 1.000000e+00
; CHECK: xor i32 {{.*}}, %any
define void @adgen_body_turned(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y, i32 %face, i32 %any) {
  %v = load float, ptr %x, align 4
  %bits = bitcast float %v to i32
  %sign = shl i32 %face, 31
  %turned = xor i32 %bits, %sign
  %number = bitcast i32 %turned to float
  %sum = fadd float %number, 1.0
  store float %sum, ptr %y, align 4
  %other = xor i32 %bits, %any
  store i32 %other, ptr null, align 4
  ret void
}

; Masks of the sign bit are arithmetic.
; CHECK-LABEL: @adgen_body_signs(
; CHECK: [[X:%.*]] = load float, ptr %x
; CHECK: [[SIZE:%.*]] = call float @llvm.fabs.f32(float [[X]])
; CHECK: [[OPPOSITE:%.*]] = fneg float [[X]]
; CHECK: fadd float [[SIZE]], [[OPPOSITE]]
define void @adgen_body_signs(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y) {
  %v = load i32, ptr %x, align 4
  %masked = and i32 %v, 2147483647
  %size = bitcast i32 %masked to float
  %turned = xor i32 %v, -2147483648
  %opposite = bitcast i32 %turned to float
  %sum = fadd float %size, %opposite
  store float %sum, ptr %y, align 4
  ret void
}

; The bits of one number with the sign of another one.
; CHECK-LABEL: @adgen_body_sign_of_another(
; CHECK: [[X:%.*]] = load float, ptr %x
; CHECK: [[Y:%.*]] = load float, ptr %y
; CHECK: [[SIZE:%.*]] = call float @llvm.fabs.f32(float [[X]])
; CHECK: call float @llvm.copysign.f32(float [[SIZE]], float [[Y]])
; CHECK: [[NEGATIVE:%.*]] = icmp slt i32 {{.*}}, 0
; CHECK: [[ANY:%.*]] = call float @llvm.fabs.f32(float [[X]])
; CHECK: [[OPPOSITE:%.*]] = fneg float [[ANY]]
; CHECK: select i1 [[NEGATIVE]], float [[OPPOSITE]], float [[X]]
define void @adgen_body_sign_of_another(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y) {
  %v = load i32, ptr %x, align 4
  %w = load i32, ptr %y, align 4
  %size = and i32 %v, 2147483647
  %sign = and i32 %w, -2147483648
  %both = or disjoint i32 %size, %sign
  %number = bitcast i32 %both to float
  %either = or i32 %v, %sign
  %other = bitcast i32 %either to float
  %sum = fadd float %number, %other
  store float %sum, ptr %y, align 4
  ret void
}

; Two halves that are taken out of a word, and one that is made of two; what overlaps is none.
; CHECK-LABEL: @adgen_body_halves_of_a_word(
; CHECK: [[PAIR:%.*]] = load <2 x half>, ptr %x
; CHECK: [[LOW:%.*]] = extractelement <2 x half> [[PAIR]], i64 0
; CHECK: [[HIGH:%.*]] = extractelement <2 x half> [[PAIR]], i64 1
; CHECK: [[ONE:%.*]] = insertelement <2 x half> poison, half {{.*}}, i64 0
; CHECK: [[BOTH:%.*]] = insertelement <2 x half> [[ONE]], half {{.*}}, i64 1
; CHECK: store <2 x half> [[BOTH]], ptr %y
; CHECK: [[MIXED:%.*]] = or i32
; CHECK: bitcast i32 [[MIXED]] to <2 x half>
define void @adgen_body_halves_of_a_word(ptr "adgen-layout"="2[0f2]" %x, ptr "adgen-layout"="2[0f2]" %y, ptr "adgen-layout"="2[0f2]" %z) {
  %word = load i32, ptr %x, align 4
  %low = trunc i32 %word to i16
  %upper = lshr i32 %word, 16
  %high = trunc i32 %upper to i16
  %wide = zext i16 %high to i32
  %other = zext i16 %low to i32
  %shifted = shl i32 %other, 16
  %made = or i32 %shifted, %wide
  store i32 %made, ptr %y, align 4
  %mixed = or i32 %made, %other
  store i32 %mixed, ptr %z, align 4
  ret void
}

; A struct that is loaded as one integer and taken apart.
; CHECK-LABEL: @adgen_body_apart_again(
; CHECK: [[KIND:%.*]] = load i32, ptr %x
; CHECK: [[VALUE:%.*]] = load float, ptr
; CHECK-NOT: lshr
; CHECK: store float [[VALUE]], ptr %y
; CHECK-NEXT: store i32 [[KIND]], ptr %k
; CHECK-NEXT: ret void
define void @adgen_body_apart_again(ptr "adgen-layout"="8[0i4,4f4]" %x, ptr "adgen-layout"="4[0f4]" %y, ptr %k) {
  %whole = load i64, ptr %x
  %high = lshr i64 %whole, 32
  %bits = trunc i64 %high to i32
  %value = bitcast i32 %bits to float
  store float %value, ptr %y
  %kind = trunc i64 %whole to i32
  store i32 %kind, ptr %k
  ret void
}

; Numbers of several kinds are copied one by one, with their own alignment.
; CHECK-LABEL: @adgen_body_mixed(
; CHECK: [[A:%.*]] = load float, ptr %from, align 4
; CHECK: [[B:%.*]] = load i32, ptr {{%.*}}, align 4
; CHECK: [[C:%.*]] = load double, ptr {{%.*}}, align 8
; CHECK: store float [[A]], ptr %y, align 4
; CHECK: store i32 [[B]]
; CHECK: store double [[C]]
; CHECK-NEXT: ret void
define void @adgen_body_mixed(ptr "adgen-layout"="16[0f4,4i4,8f8]" %x, ptr %y, i64 %i) {
  %from = getelementptr [16 x i8], ptr %x, i64 %i
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %from, i64 16, i1 false)
  ret void
}

; Many elements are copied in a loop, where there is a whole number of them.
; CHECK-LABEL: @adgen_body_many(
; CHECK: %[[COUNT:.*]] = udiv exact i64 %bytes, 24
; CHECK: %[[AT:.*]] = mul i64 %{{.*}}, 24
; CHECK: %[[FROM:.*]] = getelementptr inbounds i8, ptr %x, i64 %[[AT]]
; CHECK: %[[INTO:.*]] = getelementptr inbounds i8, ptr %y, i64 %[[AT]]
; CHECK: load double, ptr %[[FROM]], align 8
; CHECK: load double
; CHECK: load i64
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %x, i64 %n, i1 false)
define void @adgen_body_many(ptr "adgen-layout"="24[0f8,8f8,16i8]" %x, ptr %y, i64 %n) {
  %bytes = mul i64 %n, 48
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %x, i64 %bytes, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %x, i64 %n, i1 false)
  ret void
}

; So are as many as fit, as std::vector counts them.
; CHECK-LABEL: @adgen_body_rounded(
; CHECK: udiv exact i64 %bytes, 24
; CHECK-NOT: memcpy
; CHECK: ret void
define void @adgen_body_rounded(ptr "adgen-layout"="24[0i4,8f8,16f8]" %x, ptr %y, i64 %n) {
  %all = mul i64 %n, 24
  %before = add i64 %all, -24
  %rest = urem i64 %before, 24
  %rounded = sub i64 %before, %rest
  %bytes = add i64 %rounded, 24
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %x, i64 %bytes, i1 false)
  ret void
}

; A choice among the bits of two numbers is one among the numbers; integers beside them stay as they are.
; CHECK-LABEL: @adgen_body_choice(
; CHECK: [[A:%.*]] = load float, ptr %x
; CHECK: [[B:%.*]] = load float, ptr %next
; CHECK: [[CHOSEN:%.*]] = select i1 %c, float [[A]], float [[B]]
; CHECK: store float [[CHOSEN]], ptr %y
; CHECK: %n = load i32, ptr %count
; CHECK: %i = load i32, ptr %index{{$|,}}
define i32 @adgen_body_choice(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y, ptr "adgen-layout"="8[0f4,4i4]" %z, i1 %c) {
  %a = load i32, ptr %x
  %next = getelementptr i32, ptr %x, i64 1
  %b = load i32, ptr %next
  %v = select i1 %c, i32 %a, i32 %b
  store i32 %v, ptr %y
  %count = getelementptr i8, ptr %z, i64 4
  %n = load i32, ptr %count
; A number whose bits are counted with stays an integer.
  %index = getelementptr i8, ptr %x, i64 8
  %i = load i32, ptr %index
  %sum = add i32 %i, %n
  ret i32 %sum
}

; The pointers of a struct lead to what they are declared to point to.
; CHECK-LABEL: @adgen_body_members(
; CHECK: load double, ptr %from
; CHECK-NEXT: store double
define void @adgen_body_members(ptr "adgen-layout"="16[0p8>8[0f8],8p8>8[0f8]]" %s) {
  %from = load ptr, ptr %s
  %second = getelementptr i8, ptr %s, i64 8
  %to = load ptr, ptr %second
  %v = load i64, ptr %from
  store i64 %v, ptr %to
  ret void
}

; What clang said of the copy is forgotten, and a number has at least its own alignment.
; CHECK-LABEL: @adgen_body_tags(
; CHECK-NEXT: load float, ptr %x, align 4{{$}}
; CHECK-NEXT: load float, ptr %x, align 4, !tbaa
define float @adgen_body_tags(ptr "adgen-layout"="4[0f4]" %x) {
  %a = load float, ptr %x, align 1, !tbaa !20
  %b = load float, ptr %x, align 4, !tbaa !22
  %c = fadd float %a, %b
  ret float %c
}

; A half that was copied with others as a float.
; CHECK-LABEL: @adgen_body_halves(
; CHECK-NEXT: load half, ptr %x, align 2{{$}}
define half @adgen_body_halves(ptr "adgen-layout"="2[0f2]" %x) {
  %a = load half, ptr %x, align 2, !tbaa !22
  ret half %a
}

; REFUSED: adgen-refusal: {{.*}}"entry":"bytes"{{.*}}"line":5,"reason":"cannot differentiate a store of other bytes into memory of floating point"
define void @adgen_body_bytes(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0f4]" %y) !dbg !10 {
  %v = load i8, ptr %x, !dbg !11
  store i8 %v, ptr %y, !dbg !11
  ret void
}

define void @bytes(ptr %x, ptr %y) {
  ret void
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "k.cu", directory: "/home/u")
!3 = !DISubroutineType(types: !{null})
!10 = distinct !DISubprogram(name: "bytes", scope: !2, file: !2, line: 4, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!11 = !DILocation(line: 5, scope: !10)
!20 = !{!21, !21, i64 0}
!21 = !{!"int", !24, i64 0}
!22 = !{!23, !23, i64 0}
!23 = !{!"float", !24, i64 0}
!24 = !{!"omnipotent char", !25, i64 0}
!25 = !{!"Simple C++ TBAA"}

; Enzyme takes such a copy for one of integers: the length is not known, and neither is what the memory is declared to hold.
; REFUSED: "entry":"relocates"{{.*}}cannot differentiate a copy of many structs that hold floating point behind an integer
define void @adgen_body_relocates(ptr %from, ptr %into, i64 %bytes, i32 %kind, double %v) {
entry:
  br label %loop
loop:
  %at = phi ptr [ %from, %entry ], [ %next, %loop ]
  store i32 %kind, ptr %at
  %member = getelementptr inbounds i8, ptr %at, i64 8
  store double %v, ptr %member
  %next = getelementptr inbounds i8, ptr %at, i64 16
  %end = getelementptr inbounds i8, ptr %from, i64 %bytes
  %more = icmp ne ptr %next, %end
  br i1 %more, label %loop, label %done
done:
  call void @llvm.memmove.p0.p0.i64(ptr %into, ptr %from, i64 %bytes, i1 false)
  ret void
}
define void @relocates() { ret void }

; Here a number comes first, and there are only integers.
; REFUSED-NOT: "entry":"number_first"
; REFUSED-NOT: "entry":"integers"
define void @adgen_body_number_first(ptr %from, ptr %into, i64 %bytes, i32 %kind, double %v) {
  store double %v, ptr %from
  %member = getelementptr inbounds i8, ptr %from, i64 8
  store i32 %kind, ptr %member
  call void @llvm.memmove.p0.p0.i64(ptr %into, ptr %from, i64 %bytes, i1 false)
  ret void
}
define void @number_first() { ret void }

define void @adgen_body_integers(ptr %from, ptr %into, i64 %bytes, i32 %kind) {
  store i32 %kind, ptr %from
  call void @llvm.memmove.p0.p0.i64(ptr %into, ptr %from, i64 %bytes, i1 false)
  ret void
}
define void @integers() { ret void }

; One in which threads choose among numbers is one of numbers, too.
; CHECK-LABEL: @adgen_body_chosen(
; CHECK: load float, ptr %most
define void @adgen_body_chosen(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0i4]" %most) "adgen-shared"="most" {
  %brought = alloca float
  store i32 0, ptr %most, align 4
  call void @adgen_rule_choose_smax_f32(ptr %most, ptr %brought)
  %bits = load i32, ptr %most, align 4
  %largest = bitcast i32 %bits to float
  store float %largest, ptr %x, align 4
  ret void
}
declare void @adgen_rule_choose_smax_f32(ptr, ptr)

; A shared array of integers that holds the bits of numbers, which are compared and moved, is one of numbers. One that is counted with is not.
; CHECK-LABEL: @adgen_body_keys(
; CHECK-SAME: ptr "adgen-layout"="4[0f4]" %keys, ptr "adgen-layout"="4[0i4]" %sums)
; CHECK: load float, ptr %keys
; CHECK: load i32, ptr %sums
define void @adgen_body_keys(ptr "adgen-layout"="4[0f4]" %x, ptr "adgen-layout"="4[0i4]" %keys, ptr "adgen-layout"="4[0i4]" %sums) "adgen-shared"="keys:sums" {
  %v = load float, ptr %x
  store float %v, ptr %keys
  %next = getelementptr i32, ptr %keys, i32 1
  %a = load i32, ptr %keys
  %b = load i32, ptr %next
  %less = icmp ult i32 %a, %b
  %smaller = select i1 %less, i32 %a, i32 %b
  store i32 %smaller, ptr %next
  %key = load i32, ptr %next
  %number = bitcast i32 %key to float
  store float %v, ptr %sums
  %sum = load i32, ptr %sums
  %more = add i32 %sum, 1
  %counted = bitcast i32 %more to float
  %both = fadd float %number, %counted
  store float %both, ptr %x
  ret void
}

; Where the steps say which struct it is, a copy of whole elements to new memory becomes one of their members; a fixed number of them, too.
; CHECK-LABEL: @adgen_body_grows(
; CHECK-NOT: @llvm.mem
; CHECK:       load i32, ptr
; CHECK-NEXT:  getelementptr inbounds i8, ptr %{{[0-9]+}}, i64 8
; CHECK-NEXT:  load double, ptr
; CHECK-NOT: @llvm.mem
; CHECK:     ret ptr %new
%struct.Edge = type { i32, double }
define ptr @adgen_body_grows(ptr %first, i64 %n, i64 %room, i32 %kind, double %v) {
  %last = getelementptr inbounds %struct.Edge, ptr %first, i64 %n
  %new = call noalias ptr @malloc(i64 %room)
  %end = getelementptr inbounds %struct.Edge, ptr %new, i64 %room
  %a = ptrtoint ptr %first to i64
  %b = ptrtoint ptr %last to i64
  %bytes = sub i64 %b, %a
  call void @llvm.memmove.p0.p0.i64(ptr %new, ptr %first, i64 %bytes, i1 false)
  %added = getelementptr inbounds i8, ptr %new, i64 %bytes
  call void @llvm.memcpy.p0.p0.i64(ptr %added, ptr %last, i64 16, i1 false)
  store i32 %kind, ptr %added
  %member = getelementptr inbounds i8, ptr %added, i64 8
  store double %v, ptr %member
  store i32 %kind, ptr %last
  ret ptr %new
}
declare ptr @malloc(i64)

; Elements of known steps: a copy in place begins with the last one where it goes to a place behind.
; CHECK-LABEL: define void @adgen_body_shifts(
; CHECK-NOT:     memmove
; CHECK:         %[[COUNT:.*]] = udiv exact i64 %{{.*}}, 16
; CHECK:         %[[BEHIND:.*]] = icmp ugt ptr %into, %from
; CHECK:         select i1 %[[BEHIND]]
; CHECK:         load i32
; CHECK:         load double
; CHECK:         ret void
%body = type { i32, double }
define void @adgen_body_shifts(ptr %from, ptr %into, i64 %n, i32 %kind, double %v) {
  %last = getelementptr inbounds %body, ptr %from, i64 %n
  store i32 %kind, ptr %last
  %member = getelementptr inbounds i8, ptr %last, i64 8
  store double %v, ptr %member
  %bytes = mul i64 %n, 16
  call void @llvm.memmove.p0.p0.i64(ptr %into, ptr %from, i64 %bytes, i1 false)
  ret void
}
define void @shifts() { ret void }

; A copy that begins inside of an integer: its bytes, and then the number.
; CHECK-LABEL: define void @adgen_body_inside(
; CHECK-NOT:     memcpy
; CHECK-COUNT-3: store i8
; CHECK:         store double
; CHECK-NEXT:    ret void
define void @adgen_body_inside(i32 %kind, double %v) {
  %from = alloca %body
  %into = alloca %body
  store i32 %kind, ptr %from
  %member = getelementptr inbounds i8, ptr %from, i64 8
  store double %v, ptr %member
  %second = getelementptr inbounds i8, ptr %from, i64 1
  %place = getelementptr inbounds i8, ptr %into, i64 1
  call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %second, i64 15, i1 false)
  ret void
}
define void @inside() { ret void }

; One of two structs, of which one is a local variable that is copied as a whole: the number is copied as such.
; CHECK-LABEL: define void @adgen_body_larger(
; CHECK-NOT:     memcpy
; CHECK:         [[NUMBER:%.*]] = load double, ptr %larger
; CHECK:         store double [[NUMBER]], ptr %out
; CHECK:         ret void
define void @adgen_body_larger(i1 %which, ptr %out, i32 %place, double %v) {
  %own = alloca { double, i32 }
  store double %v, ptr %own
  %member = getelementptr inbounds i8, ptr %own, i64 8
  store i32 %place, ptr %member
  %larger = select i1 %which, ptr %own, ptr %out
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %larger, i64 16, i1 false)
  ret void
}
define void @larger() { ret void }

; Rows that are loaded anew for each access: what is kept at that place of any row says what the copy moves.
%sizes = type { double, float, i32 }
%row = type { i64, ptr }
; CHECK-LABEL: define void @adgen_body_rows(
; CHECK-NOT:     memcpy
; CHECK:         load double
; CHECK:         load float
; CHECK:         load i32
; CHECK:         ret void
define void @adgen_body_rows(ptr %rows, i64 %i, i64 %j, i64 %n, double %v, float %w) {
  %filled = getelementptr inbounds %row, ptr %rows, i64 %i
  %first = getelementptr inbounds i8, ptr %filled, i64 8
  %one = load ptr, ptr %first
  %at = getelementptr inbounds %sizes, ptr %one, i64 %j
  store double %v, ptr %at
  %member = getelementptr inbounds i8, ptr %at, i64 8
  store float %w, ptr %member
  %source = getelementptr inbounds i8, ptr %filled, i64 8
  %from = load ptr, ptr %source
  %next = getelementptr inbounds i8, ptr %filled, i64 24
  %into = load ptr, ptr %next
  %bytes = mul i64 %n, 16
  call void @llvm.memcpy.p0.p0.i64(ptr %into, ptr %from, i64 %bytes, i1 false)
  ret void
}
define void @rows() { ret void }

; Numbers of two sizes, of which nothing says how far they are apart.
; REFUSED: "entry":"sizes"{{.*}}floating point {{.*}}of several sizes
define void @adgen_body_sizes(ptr %rows, i64 %i, i64 %n, double %v, float %w) {
  %place = getelementptr inbounds ptr, ptr %rows, i64 %i
  %one = load ptr, ptr %place
  store double %v, ptr %one
  %member = getelementptr inbounds i8, ptr %one, i64 8
  store float %w, ptr %member
  %from = load ptr, ptr %place
  %next = getelementptr inbounds i8, ptr %place, i64 8
  %into = load ptr, ptr %next
  call void @llvm.memcpy.p0.p0.i64(ptr %into, ptr %from, i64 %n, i1 false)
  ret void
}
define void @sizes() { ret void }

; Rows of numbers of one size, beside rows of others at another place.
; REFUSED-NOT: "entry":"apart"
define void @adgen_body_apart(ptr %rows, i64 %i, i64 %n, double %v, float %w) {
  %first = getelementptr inbounds { ptr, ptr }, ptr %rows, i64 %i
  %doubles = load ptr, ptr %first
  store double %v, ptr %doubles
  %second = getelementptr inbounds i8, ptr %first, i64 8
  %floats = load ptr, ptr %second
  store float %w, ptr %floats
  %next = getelementptr inbounds i8, ptr %first, i64 16
  %into = load ptr, ptr %next
  call void @llvm.memcpy.p0.p0.i64(ptr %into, ptr %doubles, i64 %n, i1 false)
  ret void
}
define void @apart() { ret void }

; Zeros beside numbers are numbers; beside integers they stay what they are.
; CHECK-LABEL: define void @adgen_body_zeros(
; CHECK-COUNT-4: store float 0.000000e+00
; CHECK-NOT:     memset
; CHECK:         ret void
define void @adgen_body_zeros(ptr %tile, float %x) {
  call void @llvm.memset.p0.i64(ptr align 16 %tile, i8 0, i64 16, i1 false)
  %next = getelementptr inbounds i8, ptr %tile, i64 16
  store float %x, ptr %next
  ret void
}
define void @zeros() { ret void }

; CHECK-LABEL: define void @adgen_body_counts(
; CHECK:         memset
define void @adgen_body_counts(ptr %counts, i32 %n) {
  call void @llvm.memset.p0.i64(ptr align 16 %counts, i8 0, i64 16, i1 false)
  %next = getelementptr inbounds i8, ptr %counts, i64 16
  store i32 %n, ptr %next
  ret void
}
define void @counts() { ret void }

; Behind the number of a node of a tree are pointers: so its members are named, or nothing says that they are numbers.
; CHECK-LABEL: define void @adgen_body_node(
; CHECK:         store ptr null, ptr %left
; CHECK:         store ptr null, ptr
; CHECK:         memset
define void @adgen_body_node(double %x) {
  %node = alloca [24 x i8], align 8
  store double %x, ptr %node, align 8, !tbaa !100
  %left = getelementptr inbounds i8, ptr %node, i64 8
  call void @llvm.memset.p0.i64(ptr align 8 %left, i8 0, i64 16, i1 false)
  %unnamed = alloca [24 x i8], align 8
  store double %x, ptr %unnamed, align 8
  %rest = getelementptr inbounds i8, ptr %unnamed, i64 8
  call void @llvm.memset.p0.i64(ptr align 8 %rest, i8 0, i64 16, i1 false)
  ret void
}
define void @node() { ret void }

!100 = !{!101, !102, i64 0}
!101 = !{!"_ZTS4Node", !102, i64 0, !103, i64 8, !103, i64 16}
!102 = !{!"double", !105, i64 0}
!103 = !{!"_ZTSSt10unique_ptrI4NodeSt14default_deleteIS0_EE", !104, i64 0}
!104 = !{!"p1 _ZTS4Node", !106, i64 0}
!105 = !{!"omnipotent char", !107, i64 0}
!106 = !{!"any pointer", !105, i64 0}
!107 = !{!"Simple C++ TBAA"}

; The bits of a half go into memory of which nothing is known as a half.
; CHECK-LABEL: define void @adgen_body_into_bytes(
; CHECK:         store half %x, ptr %bytes
define void @adgen_body_into_bytes(ptr %bytes, half %x) {
  %bits = bitcast half %x to i16
  store i16 %bits, ptr %bytes, align 2
  ret void
}
define void @into_bytes() { ret void }

; A float and an integer that were put into one word, through which a loop's result came, are stored as what they were.
; CHECK-LABEL: define void @adgen_body_put_together(
; CHECK:         [[HIGH:%.*]] = lshr i64 %count, 32
; CHECK:         [[COUNT:%.*]] = trunc i64 [[HIGH]] to i32
; CHECK-NOT:     lshr
; CHECK:         store float %x, ptr %y
; CHECK:         store i32 [[COUNT]], ptr
define void @adgen_body_put_together(ptr "adgen-layout"="8[0f4,4i4]" %y, float %x, i32 %n, i1 %any) {
entry:
  %wide = zext i32 %n to i64
  %high = shl nuw i64 %wide, 32
  br i1 %any, label %some, label %join
some:
  br label %join
join:
  %count = phi i64 [ 0, %entry ], [ %high, %some ]
  %bits = bitcast float %x to i32
  %low = zext i32 %bits to i64
  %word = or disjoint i64 %count, %low
  store i64 %word, ptr %y, align 4
  ret void
}
define void @put_together() { ret void }
