; What Enzyme has made is looked at before anything else is done with it; nothing is changed, and an entry of which something is wrong is refused.
;
; RUN: %opt -passes=adgen-verify-gradients -disable-output %s 2>&1 | %filecheck %s --implicit-check-not=adgen-refusal
; RUN: sed -e 's/nvptx64-nvidia-cuda/x86_64-pc-linux-gnu/' %s | \
; RUN:   %opt -passes=adgen-verify-gradients -disable-output 2>&1 | %filecheck %s --check-prefix=HOST

target triple = "nvptx64-nvidia-cuda"

; An entry whose gradient adds to a const array that the primal only reads is refused; one whose primal writes there is not.
; CHECK: adgen-refusal: {{.*}}"entry":"f"{{.*}}"reason":"the derivative with respect to 'k', which is const, would be added to 'k' itself"
define void @adgen_body_f(ptr %x, ptr %k, i1 %c) {
  %from = select i1 %c, ptr %x, ptr %k
  %v = load float, ptr %from
  ret void
}

define void @adgen_gradient_f(ptr %x, ptr %k, i1 %c, ptr "adgen-shadow" %d_x) #0 {
  %to = select i1 %c, ptr %d_x, ptr %k
  %was = atomicrmw fadd ptr %to, float 1.0 monotonic
  ret void
}

define void @adgen_body_g(ptr %x, ptr %k) {
  store float 1.0, ptr %k
  ret void
}

define void @adgen_gradient_g(ptr %x, ptr %k, ptr "adgen-shadow" %d_x) #1 {
  store float 1.0, ptr %k
  store float 1.0, ptr %d_x
  ret void
}

; Not so where the parameter leads to integers, and the primal takes no number of floating point there: members of one object are told apart.
define void @adgen_body_indexed(ptr "adgen-layout"="4[0i4]" %rows, ptr "adgen-layout"="8[0f8]" %x) {
  %object = alloca { ptr, ptr }
  store ptr %rows, ptr %object
  %second = getelementptr i8, ptr %object, i64 8
  store ptr %x, ptr %second
  call void @reads(ptr %object)
  ret void
}

define internal void @reads(ptr %object) {
  %rows = load ptr, ptr %object
  %row = load i32, ptr %rows
  %second = getelementptr i8, ptr %object, i64 8
  %x = load ptr, ptr %second
  %v = load double, ptr %x
  ret void
}

define void @adgen_gradient_indexed(ptr %rows, ptr %x, ptr "adgen-shadow" %d_x) #4 {
  %object = alloca { ptr, ptr }
  store ptr %rows, ptr %object
  %second = getelementptr i8, ptr %object, i64 8
  store ptr %d_x, ptr %second
  %both = load { ptr, ptr }, ptr %object
  %to = extractvalue { ptr, ptr } %both, 1
  %was = atomicrmw fadd ptr %to, double 1.0 monotonic
  ret void
}

; Here it takes one.
; CHECK: adgen-refusal: {{.*}}"entry":"indexed_number"{{.*}}"reason":"the derivative with respect to 'rows', which is const, would be added to 'rows' itself"
define void @adgen_body_indexed_number(ptr "adgen-layout"="4[0i4]" %rows) {
  %v = load float, ptr %rows
  ret void
}

define void @adgen_gradient_indexed_number(ptr %rows, ptr "adgen-shadow" %d_x) #5 {
  %was = atomicrmw fadd ptr %rows, float 1.0 monotonic
  ret void
}

; What a method reads that is called by its address are not the integers, of which it has no pointer; the second is handed one in an object.
; CHECK: adgen-refusal: {{.*}}"entry":"method_of_integers"{{.*}}"reason":"the derivative with respect to 'rows', which is const, would be added to 'rows' itself"
define internal double @method(ptr %this) {
  %v = load double, ptr %this
  ret double %v
}

define void @adgen_body_method(ptr "adgen-layout"="4[0i4]" %rows, ptr "adgen-layout"="8[0f8]" %x, i1 %c) {
  %cell = alloca [2 x double]
  %row = load i32, ptr %rows
  %chosen = select i1 %c, ptr @method, ptr null
  %v = call double %chosen(ptr %cell)
  ret void
}

define void @adgen_gradient_method(ptr %rows, ptr %x, i1 %c, ptr "adgen-shadow" %d_x) #6 {
  %to = select i1 %c, ptr %d_x, ptr %rows
  %was = atomicrmw fadd ptr %to, double 1.0 monotonic
  ret void
}

define void @adgen_body_method_of_integers(ptr "adgen-layout"="4[0i4]" %rows, ptr "adgen-layout"="8[0f8]" %x, i1 %c) {
  %cell = alloca ptr
  store ptr %rows, ptr %cell
  %chosen = select i1 %c, ptr @method, ptr null
  %v = call double %chosen(ptr %cell) memory(read)
  ret void
}

define void @adgen_gradient_method_of_integers(ptr %rows, ptr %x, i1 %c, ptr "adgen-shadow" %d_x) #6 {
  %to = select i1 %c, ptr %d_x, ptr %rows
  %was = atomicrmw fadd ptr %to, double 1.0 monotonic
  ret void
}

; A pointer to integers that is cast to an integer and back may be one that a number is read by.
; CHECK: adgen-refusal: {{.*}}"entry":"cast"{{.*}}"reason":"the derivative with respect to 'rows', which is const, would be added to 'rows' itself"
define void @adgen_body_cast(ptr "adgen-layout"="4[0i4]" %rows, ptr "adgen-layout"="8[0f8]" %x, i1 %c) {
  %address = ptrtoint ptr %rows to i64
  %again = inttoptr i64 %address to ptr
  %v = load double, ptr %again
  ret void
}

define void @adgen_gradient_cast(ptr %rows, ptr %x, i1 %c, ptr "adgen-shadow" %d_x) #6 {
  %to = select i1 %c, ptr %d_x, ptr %rows
  %was = atomicrmw fadd ptr %to, double 1.0 monotonic
  ret void
}

; An array that is overwritten as if nobody read it again.
; CHECK: adgen-refusal: {{.*}}"entry":"overwrites"{{.*}}"reason":"the gradient would read an array that is overwritten here and not put back"
define void @adgen_body_overwrites(ptr %x) {
  ret void
}

define void @adgen_gradient_overwrites(ptr %x, ptr "adgen-shadow" %d_x) #2 {
  call void @augmented_region(ptr %x)
  ret void
}

define internal void @augmented_region(ptr %x) {
  call void @adgen_rule_overwrite_f64(ptr %x, ptr %x)
  store double 1.0, ptr %x
  ret void
}

declare !enzyme_augment !9 !enzyme_gradient !9 void @adgen_rule_overwrite_f64(ptr, ptr)
!9 = !{}

; A derivative that Enzyme did not make.
; CHECK: adgen-refusal: {{.*}}"entry":"asked"{{.*}}"reason":"Enzyme has left a derivative out"
define void @adgen_body_asked(ptr %x) {
  ret void
}

define void @adgen_gradient_asked(ptr %x, ptr "adgen-shadow" %d_x) #2 {
  call void @__enzyme_autodiff_asked(ptr @adgen_body_asked, ptr %x, ptr %d_x)
  ret void
}

declare void @__enzyme_autodiff_asked(...)

; Memory in which nothing is ever kept, and a cache that is read before all that fills it; one that is read behind is right, whatever decides
; about either.
; CHECK: adgen-refusal: {{.*}}"entry":"empty"{{.*}}"reason":"the gradient would read a value that was not kept before it"
; CHECK: adgen-refusal: {{.*}}"entry":"late"{{.*}}"reason":"the gradient would read a value that was not kept before it"
define void @adgen_body_empty(ptr %x) {
  ret void
}

define void @adgen_gradient_empty(ptr %x, ptr "adgen-shadow" %d_x) #2 {
  %cache = call noalias ptr @malloc(i64 8), !enzyme_cache_alloc !1
  br label %invertentry
invertentry:
  %kept = load double, ptr %cache
  %was = atomicrmw fadd ptr %d_x, double %kept monotonic
  ret void
}

define void @adgen_body_late(ptr %x) {
  ret void
}

define void @adgen_gradient_late(ptr %x, ptr "adgen-shadow" %d_x) #2 {
  %cache = call noalias ptr @malloc(i64 8), !enzyme_cache_alloc !1
  br label %invertentry
invertentry:
  %kept = load double, ptr %cache, !invariant.group !2
  %was = atomicrmw fadd ptr %d_x, double %kept monotonic
  store double 1.0, ptr %cache, !invariant.group !2
  ret void
}

define void @adgen_body_in_time(ptr %x, i1 %c) {
  ret void
}

define void @adgen_gradient_in_time(ptr %x, i1 %c, ptr "adgen-shadow" %d_x) #1 {
  %cache = call noalias ptr @malloc(i64 8), !enzyme_cache_alloc !3
  br i1 %c, label %forward, label %invertentry
forward:
  store double 1.0, ptr %cache, !invariant.group !4
  br label %invertentry
invertentry:
  %kept = load double, ptr %cache, !invariant.group !4
  %was = atomicrmw fadd ptr %d_x, double %kept monotonic
  ret void
}

; What has a value on no way.
; CHECK: adgen-refusal: {{.*}}"entry":"nothing"{{.*}}"reason":"the gradient would read a value that was not kept before it"
define void @adgen_body_nothing(ptr %x) {
  ret void
}

define void @adgen_gradient_nothing(ptr %x, ptr "adgen-shadow" %d_x) #2 {
  br label %invertentry
invertentry:
  %was = atomicrmw fadd ptr %d_x, double undef monotonic
  ret void
}

; An addition into a shadow that other threads may add to, without an atomic. The thread's own variables need none, nor does what the user
; says is owned, nor what the primal adds to.
; CHECK: adgen-refusal: {{.*}}"entry":"adds"{{.*}}"reason":"the gradient would add to a derivative that other threads may add to at the same time"
define void @adgen_body_adds(ptr %x) {
  ret void
}

define void @adgen_gradient_adds(ptr %x, ptr "adgen-shadow" %d_x) #2 {
  br label %invertentry
invertentry:
  %old = load double, ptr %d_x
  %sum = fadd fast double 1.0, %old
  store double %sum, ptr %d_x
  ret void
}

define void @adgen_body_adds_to_its_own(ptr %x, ptr %y) {
  ret void
}

define void @adgen_gradient_adds_to_its_own(ptr %x, ptr %y, ptr "adgen-shadow" %d_x, ptr "adgen-owned" "adgen-shadow" %d_y) #3 {
  %variable = alloca double
  store double 0.0, ptr %variable
  %before = load double, ptr %y
  %more = fadd double %before, 1.0
  store double %more, ptr %y
  br label %invertentry
invertentry:
  %old = load double, ptr %variable
  %sum = fadd double %old, 1.0
  store double %sum, ptr %variable
  %of_y = load double, ptr %d_y
  %sum_of_y = fadd double %of_y, %sum
  store double %sum_of_y, ptr %d_y
  ret void
}

; In C++ that is so in what a team runs.
; HOST-NOT: "entry":"adds"
; HOST: adgen-refusal: {{.*}}"entry":"forks"{{.*}}"reason":"the gradient would add to a derivative that other threads may add to at the same time"
; CHECK: adgen-refusal: {{.*}}"entry":"forks"
define void @adgen_body_forks(ptr %x) {
  ret void
}

define void @adgen_gradient_forks(ptr %x, ptr "adgen-shadow" %d_x) #2 {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @region, ptr %d_x)
  ret void
}

define internal void @region(ptr %thread, ptr %bound, ptr %d_x) {
  %own = alloca double
  store double 0.0, ptr %own
  br label %invertentry
invertentry:
  %own_old = load double, ptr %own
  %own_sum = fadd double %own_old, 1.0
  store double %own_sum, ptr %own
  %old = load double, ptr %d_x
  %sum = fadd double %own_sum, %old
  store double %sum, ptr %d_x
  ret void
}

; A loop that is walked back once (its counter begins at nothing) gives back what the loop inside of it kept of the first iteration alone, which may be nothing.
define void @adgen_body_once(ptr %x) {
  ret void
}

define void @adgen_gradient_once(ptr %kept, ptr "adgen-shadow" %d_x) #2 {
  %counter = alloca i64
  br label %invertinner
invertinner:
  %iteration = load i64, ptr %counter
  %place = getelementptr ptr, ptr %kept, i64 %iteration
  %inner = load ptr, ptr %place
  call void @free(ptr %inner)
  br label %invertouter
invertouter:
  %at = load i64, ptr %counter
  %first = icmp eq i64 %at, 0
  br i1 %first, label %invertentry, label %incinvertouter
incinvertouter:
  %here = load i64, ptr %counter
  %before = add nsw i64 %here, -1
  store i64 %before, ptr %counter
  br label %invertinner
invertexit:
  store i64 0, ptr %counter
  br label %invertinner
invertentry:
  ret void
; HOST: adgen-refusal: {{.*}}"entry":"once"{{.*}}"reason":"the gradient would give back what a loop kept in one iteration alone"
}

; Not so where it is walked back as often as it ran.
define void @adgen_body_often(ptr %x) {
  ret void
}

define void @adgen_gradient_often(ptr %kept, i64 %last, ptr "adgen-shadow" %d_x) #2 {
  %counter = alloca i64
  store i64 %last, ptr %counter
  br label %invertinner
invertinner:
  %iteration = load i64, ptr %counter
  %place = getelementptr ptr, ptr %kept, i64 %iteration
  %inner = load ptr, ptr %place
  call void @free(ptr %inner)
  %at = load i64, ptr %counter
  %first = icmp eq i64 %at, 0
  br i1 %first, label %invertentry, label %incinvertouter
incinvertouter:
  %here = load i64, ptr %counter
  %before = add nsw i64 %here, -1
  store i64 %before, ptr %counter
  br label %invertinner
invertentry:
  ret void
; HOST-NOT: "entry":"often"
}

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare noalias ptr @malloc(i64)
declare void @free(ptr)

attributes #2 = { "adgen-activity"="duplicated" }
attributes #3 = { "adgen-activity"="duplicated:duplicated" }
!1 = distinct !{}
!2 = distinct !{}
!3 = distinct !{}
!4 = distinct !{}
attributes #0 = { "adgen-activity"="duplicated:const:const" }
attributes #1 = { "adgen-activity"="duplicated:const" }
attributes #4 = { "adgen-activity"="const:duplicated" }
attributes #5 = { "adgen-activity"="const" }
attributes #6 = { "adgen-activity"="const:duplicated:const" }
