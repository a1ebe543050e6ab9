; Arrays of arguments, of pointers in structs by value, their shadows, and what Enzyme keeps are told apart by scopes. What
; was loaded from an array of pointers may be any of them; shared arrays are apart from arrays only.
;
; RUN: %opt -passes=adgen-assume-distinct-arrays -S %s | %filecheck %s
; RUN: %opt -passes='adgen-assume-distinct-arrays,function(gvn)' -S %s | %filecheck %s --check-prefix=USED

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_members(
; CHECK-SAME:    ptr noalias "adgen-struct"="24" %s
; CHECK-SAME:    ptr noalias %d_s
; CHECK:         call void @llvm.experimental.noalias.scope.decl(
; CHECK:         load double, ptr %a, {{.*}}!alias.scope ![[A:[0-9]+]], !noalias ![[NOT_A:[0-9]+]]
; CHECK:         store double %v, ptr %b, {{.*}}!alias.scope ![[B:[0-9]+]], !noalias ![[NOT_B:[0-9]+]]
; CHECK:         atomicrmw fadd ptr %d_a, double %v monotonic, {{.*}}!alias.scope ![[D:[0-9]+]], !noalias
; CHECK:         load double, ptr %x, {{.*}}!alias.scope !{{[0-9]+}}, !noalias
; Of two arrays, one or the other.
; CHECK:         load double, ptr %either, {{.*}}!alias.scope ![[BOTH:[0-9]+]], !noalias
; CHECK:         store double {{.*}}, ptr %kept, {{.*}}!alias.scope
; CHECK:         load double, ptr %unknown, align 8{{$}}
; CHECK:         ret void
; USED-LABEL:  define void @adgen_gradient_members(
; What is stored to b changes nothing behind a, nor behind the struct.
; USED:          %v = load double, ptr %a,
; USED:          %sum = fadd double %v, %z
; USED-NOT:      load double
; USED:          ret void
define void @adgen_gradient_members(ptr "adgen-struct"="24" %s, ptr %x, ptr %rows, ptr %d_s, ptr "adgen-shadow" %d_x, i1 %c) "adgen-activity"="duplicated:duplicated:const" {
  %a = load ptr, ptr %s
  %at.b = getelementptr i8, ptr %s, i64 8
  %b = load ptr, ptr %at.b
  %d_a = load ptr, ptr %d_s
  %kept = call ptr @malloc(i64 8), !enzyme_cache_alloc !0
  %v = load double, ptr %a
  store double %v, ptr %b
  %old = atomicrmw fadd ptr %d_a, double %v monotonic
  %again = load ptr, ptr %s
  %w = load double, ptr %again
  %z = load double, ptr %x
  %sum = fadd double %w, %z
  %either = select i1 %c, ptr %a, ptr %x
  %e = load double, ptr %either
  %total = fadd double %sum, %e
  store double %total, ptr %kept
  store double %total, ptr %x
  %unknown = load ptr, ptr %rows
  %u = load double, ptr %unknown
  ret void
}

; A struct whose pointers change places says nothing; nor does what is no gradient.
; CHECK-LABEL: define void @adgen_gradient_swapped(
; CHECK-SAME:    ptr "adgen-struct"="16" %s
; CHECK:         load double, ptr %a, align 8{{$}}
; CHECK:         store double %v, ptr %x, {{.*}}!alias.scope
; CHECK:         ret void
define void @adgen_gradient_swapped(ptr "adgen-struct"="16" %s, ptr %x, ptr %d_s, ptr "adgen-shadow" %d_x) "adgen-activity"="duplicated:duplicated" {
  %at.b = getelementptr i8, ptr %s, i64 8
  %b = load ptr, ptr %at.b
  store ptr %b, ptr %s
  %a = load ptr, ptr %s
  %v = load double, ptr %a
  store double %v, ptr %x
  store double 0.0, ptr %d_x
  ret void
}

; Numbers beside the pointers may be written, as Enzyme does to the shadows of those that a struct holds.
; CHECK-LABEL: define void @adgen_gradient_numbers(
; CHECK-SAME:    ptr noalias %d_s
; CHECK:         load double, ptr %a, {{.*}}!alias.scope
; CHECK:         atomicrmw fadd ptr %d_a, double %v monotonic, {{.*}}!alias.scope
; CHECK:         ret void
define void @adgen_gradient_numbers(ptr "adgen-struct"="24" %s, ptr %d_s) "adgen-activity"="duplicated" {
  %number = getelementptr i8, ptr %d_s, i64 8
  store i64 0, ptr %number
  %a = load ptr, ptr %s
  %d_a = load ptr, ptr %d_s
  %v = load double, ptr %a
  %old = atomicrmw fadd ptr %d_a, double %v monotonic
  ret void
}

; Half of a pointer is no number, and what is written somewhere may be one.
; CHECK-LABEL: define void @adgen_gradient_halves(
; CHECK:         atomicrmw fadd ptr %d_a, double %v monotonic, align 8{{$}}
; CHECK:         ret void
define void @adgen_gradient_halves(ptr "adgen-struct"="24" %s, ptr %d_s) "adgen-activity"="duplicated" {
  %half = getelementptr i8, ptr %d_s, i64 4
  store i32 0, ptr %half
  %a = load ptr, ptr %s
  %d_a = load ptr, ptr %d_s
  %v = load double, ptr %a
  %old = atomicrmw fadd ptr %d_a, double %v monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_somewhere(
; CHECK:         atomicrmw fadd ptr %d_a, double %v monotonic, align 8{{$}}
; CHECK:         ret void
define void @adgen_gradient_somewhere(ptr "adgen-struct"="24" %s, ptr %d_s, i64 %i) "adgen-activity"="duplicated:const" {
  %any = getelementptr i8, ptr %d_s, i64 %i
  store i64 0, ptr %any
  %a = load ptr, ptr %s
  %d_a = load ptr, ptr %d_s
  %v = load double, ptr %a
  %old = atomicrmw fadd ptr %d_a, double %v monotonic
  ret void
}

; CHECK-LABEL: define void @adgen_body_members(
; CHECK-NOT:     !alias.scope
; CHECK:         ret void
define void @adgen_body_members(ptr %x, ptr %y) {
  %v = load double, ptr %x
  store double %v, ptr %y
  ret void
}

; Shared arrays of one gradient may be one array, and are no array of the caller's.
; CHECK-LABEL: define void @adgen_gradient_shared(
; CHECK:         load double, ptr %one, {{.*}}!alias.scope ![[S:[0-9]+]], !noalias ![[NOT_S:[0-9]+]]
; CHECK:         store double %v, ptr %two, {{.*}}!alias.scope ![[S]], !noalias ![[NOT_S]]
; CHECK:         store double %v, ptr %x, {{.*}}!alias.scope
; CHECK:         ret void
define void @adgen_gradient_shared(ptr %x, ptr "adgen-shadow" %d_x, ptr %one, ptr %two, ptr "adgen-shared-shadow" %d_one, ptr "adgen-shared-shadow" %d_two) "adgen-activity"="duplicated" "adgen-shared"="one:two" {
  %v = load double, ptr %one
  store double %v, ptr %two
  store double %v, ptr %x
  ret void
}

declare ptr @malloc(i64)

!0 = !{}
