; A fork asks for as many threads as were captured with it, also that of the reverse sweep; what Enzyme keeps a thread has room for the
; largest team. Atomic operations on integers are themselves again.
;
; RUN: %opt -passes='adgen-size-teams' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i64 @f(
; CHECK-NEXT:    %[[SIZE:.*]] = call i32 @adgen_omp_capacity()
; CHECK-NEXT:    %[[WIDE:.*]] = zext i32 %[[SIZE]] to i64
; CHECK-NEXT:    %[[CALLER:.*]] = call i32 @__kmpc_global_thread_num(ptr @place)
; CHECK-NEXT:    call void @__kmpc_push_num_threads(ptr @place, i32 %[[CALLER]], i32 %team)
; CHECK-NEXT:    call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 2, ptr @started, i32 %team, ptr %x)
; CHECK-NEXT:    call void @adgen_add_up()
; CHECK-NEXT:    %asked = call i32 @omp_get_max_threads()
; CHECK-NEXT:    ret i64 %[[WIDE]]
define i64 @f(i32 %team, ptr %x) {
  %size = call i64 @omp_get_max_threads()
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 2, ptr @started, i32 %team, ptr %x)
  %asked = call i32 @omp_get_max_threads()
  ret i64 %size
}

; Enzyme calls the thread's number as a function of 64 bits.
; CHECK-LABEL: define i64 @number(
; CHECK-NEXT:    %[[NUMBER:.*]] = call i32 @omp_get_thread_num()
; CHECK-NEXT:    %[[WIDE:.*]] = zext i32 %[[NUMBER]] to i64
; CHECK-NEXT:    ret i64 %[[WIDE]]
define i64 @number() {
  %number = call i64 @omp_get_thread_num()
  ret i64 %number
}

declare i32 @omp_get_thread_num()

; A thread without others needs no atomic additions, nor does one with copies of all that it accumulates into.
; CHECK-LABEL: define internal void @started(
; CHECK:         %[[TEAM:.*]] = call i32 @omp_in_parallel()
; CHECK-NEXT:    %[[ALONE:.*]] = icmp eq i32 %[[TEAM]], 0
; CHECK-NEXT:    br i1 %[[ALONE]]
; CHECK:         call void @region_alone(ptr %x, ptr %y)
; CHECK:         %[[OWN:.*]] = call ptr @adgen_own_shadow(ptr %x, i32 1)
; CHECK-NEXT:    %[[APART:.*]] = icmp ne ptr %[[OWN]], %x
; CHECK:         br i1
; CHECK:         call void @region_apart(ptr %[[OWN]], ptr %y)
; CHECK:         call void @region(ptr %[[OWN]], ptr %y)
define internal void @started(ptr %thread, ptr %bound, i32 %team, ptr %x) {
  %y = alloca double
  call void @region(ptr %x, ptr %y)
  ret void
}

; CHECK-LABEL: define internal void @region(
; CHECK-NEXT:    atomicrmw fadd
; CHECK-NEXT:    atomicrmw fadd
define internal void @region(ptr %x, ptr %y) {
  %old = atomicrmw fadd ptr %x, double 1.0 monotonic
  %other = atomicrmw fadd ptr %y, double 1.0 monotonic
  %read = load double, ptr %y
  ret void
}

; What a forward sweep returns comes from the form that ran. What the region calls has no atomics in it either. No copies
; are asked for, which are added up behind reverse sweeps only.
; CHECK-LABEL: define internal void @started_forward(
; CHECK:         %[[ALONE_TAPE:.*]] = call { ptr } @forward_alone(ptr %x)
; CHECK:         %[[TEAM_TAPE:.*]] = call { ptr } @forward(ptr %x)
; CHECK:         %[[TAPE:.*]] = phi { ptr } [ %[[ALONE_TAPE]], %{{.*}} ], [ %[[TEAM_TAPE]], %{{.*}} ]
; CHECK-NEXT:    store { ptr } %[[TAPE]], ptr %y
; CHECK-NOT:     adgen_own_shadow
; CHECK:         ret void
define internal void @started_forward(ptr %thread, ptr %bound, i32 %team, ptr %x, ptr %y) {
  %tape = call { ptr } @forward(ptr %x)
  store { ptr } %tape, ptr %y
  ret void
}

define internal { ptr } @forward(ptr %x) {
  call void @add(ptr %x)
  ret { ptr } zeroinitializer
}

define internal void @add(ptr %x) {
  %old = atomicrmw fadd ptr %x, double 1.0 monotonic
  ret void
}

define void @sweep(i32 %team, ptr %x, ptr %y) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 3, ptr @started_forward, i32 %team, ptr %x, ptr %y)
  ret void
}

; So is it of what carries tangents, in which the function that is forked calls the region.
; CHECK-LABEL: define internal void @started_tangent(
; CHECK:         call void @fwddiffeadgen_forked_region_alone(ptr %x)
; CHECK:         call void @fwddiffeadgen_forked_region(ptr %x)
; CHECK-NOT:     adgen_own_shadow
; CHECK:         ret void
define internal void @started_tangent(ptr %thread, ptr %bound, i32 %team, ptr %x) {
  call void @fwddiffeadgen_forked_region(ptr %x)
  ret void
}

define internal void @fwddiffeadgen_forked_region(ptr %x) {
  call void @add(ptr %x)
  ret void
}

define void @tangent(i32 %team, ptr %x) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 2, ptr @started_tangent, i32 %team, ptr %x)
  ret void
}

; CHECK: define internal i32 @adgen_counter_add_i32(ptr %0, i32 %1)
; CHECK-NEXT:  entry:
; CHECK-NEXT:    %[[OLD:.*]] = atomicrmw add ptr %0, i32 %1 seq_cst
; CHECK-NEXT:    ret i32 %[[OLD]]
declare i32 @adgen_counter_add_i32(ptr, i32)

; The copies of a shadow to which nothing else happens in the region are added up behind the fork. The runtime hears of a shadow that the gradient allocates.
; CHECK-LABEL: define void @gradient(
; CHECK:         %shadow = call noalias ptr @_Znwm(i64 %bytes)
; CHECK-NEXT:    call void @adgen_describe_shadow(ptr %shadow, i64 %bytes, i32 8)
; CHECK:         call void (ptr, i32, ptr, ...) @__kmpc_fork_call(
; CHECK-NEXT:    call void @adgen_add_up()
; CHECK-NEXT:    call void @adgen_forget_shadow(ptr %shadow)
; CHECK-NEXT:    call void @_ZdlPv(ptr %shadow)
define void @gradient(i32 %team, i64 %bytes) {
  %shadow = call noalias ptr @_Znwm(i64 %bytes)
  %read = call noalias ptr @_Znwm(i64 %bytes)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 3, ptr @started_own, i32 %team, ptr %shadow, ptr %read)
  call void @_ZdlPv(ptr %shadow)
  call void @_ZdlPv(ptr %read)
  ret void
}

; The second one may be read by another way in the region, if that leads there.
; CHECK-LABEL: define internal void @started_own(
; CHECK:         call ptr @adgen_own_shadow(ptr %shadow, i32 1)
; CHECK:         %[[APART:.*]] = call i32 @adgen_omp_is_elsewhere(ptr %read, ptr %read)
; CHECK-NEXT:    %[[ALL:.*]] = and i32 1, %[[APART]]
; CHECK-NEXT:    call ptr @adgen_own_shadow(ptr %read, i32 %[[ALL]])
define internal void @started_own(ptr %thread, ptr %bound, i32 %team, ptr %shadow, ptr %read) {
  call void @region_own(ptr %shadow, ptr %read, ptr %read)
  ret void
}

define internal void @region_own(ptr %shadow, ptr %read, ptr %again) {
  %a = atomicrmw fadd ptr %shadow, double 1.0 monotonic
  %b = atomicrmw fadd ptr %read, double 1.0 monotonic
  %c = load double, ptr %again
  %d = atomicrmw fadd ptr %again, double 1.0 monotonic, !adgen.once !0
  ret void
}

; Two arrays change places from step to step: what a region reads and what it adds to are known when it runs. The other pointer lies in the tape, or in a
; vector that the region leaves alone.
; CHECK-LABEL: define void @steps(
; CHECK:         call void @adgen_describe_shadow(ptr %one, i64 %bytes, i32 8)
; CHECK:         call void @adgen_describe_shadow(ptr %other, i64 %bytes, i32 8)
define void @steps(i32 %team, i64 %bytes) {
entry:
  %vector = alloca [3 x ptr]
  %one = call noalias ptr @_Znwm(i64 %bytes)
  %other = call noalias ptr @_Znwm(i64 %bytes)
  br label %step
step:
  %now = phi ptr [ %one, %entry ], [ %next, %step ]
  %next = phi ptr [ %other, %entry ], [ %now, %step ]
  %slot = getelementptr i8, ptr %vector, i64 8
  store ptr %now, ptr %slot
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @place, i32 3, ptr @started_step, i32 %team, ptr %next, ptr %vector)
  br label %step
}

; CHECK-LABEL: define internal void @started_step(
; CHECK:         %tape = insertvalue
; CHECK:         %[[AT:.*]] = getelementptr i8, ptr %vector, i64 8
; CHECK-NEXT:    %[[HELD:.*]] = load ptr, ptr %[[AT]]
; CHECK-NEXT:    %[[APART:.*]] = call i32 @adgen_omp_is_elsewhere(ptr %[[HELD]], ptr %next)
; CHECK-NEXT:    %[[ALL:.*]] = and i32 1, %[[APART]]
; CHECK-NEXT:    call ptr @adgen_own_shadow(ptr %next, i32 %[[ALL]])
; CHECK:         %[[MEMBER:.*]] = extractvalue { i32, ptr } %tape, 1
; CHECK-NEXT:    call i32 @adgen_omp_is_elsewhere(ptr %[[MEMBER]], ptr %next)
; CHECK:         call ptr @adgen_own_shadow(ptr %next, i32 0)
; CHECK:         %[[SHADOW:.*]] = extractvalue { i32, ptr } %tape, 1
; CHECK:         %[[APART:.*]] = call i32 @adgen_omp_is_elsewhere(ptr %next, ptr %[[SHADOW]])
; CHECK-NEXT:    %[[ALL:.*]] = and i32 1, %[[APART]]
; CHECK-NEXT:    %[[OWN:.*]] = call ptr @adgen_own_shadow(ptr %[[SHADOW]], i32 %[[ALL]])
; CHECK:         %[[CHANGED:.*]] = insertvalue { i32, ptr } %tape, ptr %[[OWN]], 1
; CHECK:         call void @region_into_member_alone({ i32, ptr } %[[CHANGED]], ptr %next)
define internal void @started_step(ptr %thread, ptr %bound, i32 %team, ptr %next, ptr %vector) {
  %slot = getelementptr i8, ptr %vector, i64 8
  %now = load ptr, ptr %slot
  %tape = insertvalue { i32, ptr } poison, ptr %now, 1
  call void @region_held(ptr %next, ptr %vector)
  call void @region_member(ptr %next, { i32, ptr } %tape)
  call void @region_changed(ptr %next, ptr %vector)
  call void @region_into_member({ i32, ptr } %tape, ptr %next)
  ret void
}

; What a thread adds to may lie in the tape.
define internal void @region_into_member({ i32, ptr } %tape, ptr %next) {
  %now = extractvalue { i32, ptr } %tape, 1
  %read = load double, ptr %next
  %a = atomicrmw fadd ptr %now, double %read monotonic
  ret void
}

define internal void @region_held(ptr %next, ptr %vector) {
  %slot = getelementptr i8, ptr %vector, i64 8
  %now = load ptr, ptr %slot
  %read = load double, ptr %now
  %a = atomicrmw fadd ptr %next, double %read monotonic
  ret void
}

define internal void @region_member(ptr %next, { i32, ptr } %tape) {
  %now = extractvalue { i32, ptr } %tape, 1
  %read = load double, ptr %now
  %a = atomicrmw fadd ptr %next, double %read monotonic
  ret void
}

define internal void @region_changed(ptr %next, ptr %vector) {
  %slot = getelementptr i8, ptr %vector, i64 8
  %now = load ptr, ptr %slot
  %read = load double, ptr %now
  %a = atomicrmw fadd ptr %next, double %read monotonic
  store ptr %now, ptr %slot
  ret void
}

; CHECK-LABEL: define internal void @region_alone(
; CHECK-NOT:     atomicrmw
; CHECK:         ret void

; What is read here cannot be a copy.
; CHECK-LABEL: define internal void @region_apart(
; CHECK-NEXT:    load double, ptr %x
; CHECK-NEXT:    fadd reassoc nsz contract double
; CHECK-NEXT:    store double
; CHECK-NEXT:    atomicrmw fadd ptr %y

; CHECK-LABEL: define internal { ptr } @forward_alone(
; CHECK-NEXT:    call void @add_alone(ptr %x)
; CHECK-LABEL: define internal void @add_alone(
; CHECK-NEXT:    load double, ptr %x
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
; CHECK-LABEL: define internal void @fwddiffeadgen_forked_region_alone(
; CHECK-NEXT:    call void @add_alone(ptr %x)

; What is added once may be atomic.
; CHECK-LABEL: define internal void @region_own_alone(
; CHECK:         atomicrmw fadd ptr %again, {{.*}} !adgen.once

declare noalias ptr @_Znwm(i64)
declare void @_ZdlPv(ptr)

@place = private constant [1 x i8] zeroinitializer
declare i64 @omp_get_max_threads()
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)

!0 = !{}
