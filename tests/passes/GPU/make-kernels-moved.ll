; Static arrays whose shadows are more than a block may have by static arrays: the shadows lie in dynamic shared memory,
; behind the caller's and its shadow where there is some, and the kernel says how many bytes that is. Arrays without a
; shadow are constants. Of a second derivative the cotangents, for which it has arrays of its own, lie there as well.
;
; RUN: %opt -passes=adgen-make-kernels -S %s | %filecheck %s

target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK-DAG: @adgen_moved_shadows = external addrspace(3) global [0 x i8], align 16
; CHECK-NOT: @adgen_shadow_both
@left = internal addrspace(3) global [6200 x float] undef, align 4
@right = internal addrspace(3) global [255 x float] undef, align 4
@adgen_cotangents_left = internal addrspace(3) global [6200 x float] undef, align 4
@dynamic = external addrspace(3) global [0 x float], align 4

; CHECK:       define ptx_kernel void @both__gradient(ptr %0, ptr %1) #[[BOTH:[0-9]+]]
; CHECK:       [[WORDS:%.*]] = phi i32
; CHECK:       store <4 x i32> zeroinitializer, ptr {{.*}}, align 16
; CHECK:       store i32 0, ptr {{.*}}, align 4
; CHECK:       call void @adgen_gradient_both(ptr %0, ptr %1, ptr addrspacecast (ptr addrspace(3) @left to ptr),
; CHECK-SAME:  ptr addrspacecast (ptr addrspace(3) @right to ptr),
; CHECK-SAME:  ptr {{.*}}@adgen_moved_shadows{{.*}}, ptr {{.*}}@adgen_moved_shadows{{.*}} 24800
define ptx_kernel void @both(ptr %x) {
  ret void
}
define void @adgen_gradient_both(ptr %x, ptr %dx, ptr %left, ptr %right, ptr %dleft, ptr %dright) #0 {
  store float 1.0, ptr %dleft
  store float 1.0, ptr %dright
  ret void
}

; CHECK:       define ptx_kernel void @constant__gradient(ptr %0, ptr %1) #[[CONSTANT:[0-9]+]]
; CHECK:       call void @adgen_gradient_constant({{.*}}ptr poison, ptr {{.*}}@adgen_shadow_constant_right
define ptx_kernel void @constant(ptr %x) {
  ret void
}
define void @adgen_gradient_constant(ptr %x, ptr %dx, ptr %left, ptr %right, ptr %dleft, ptr %dright) #1 {
  store float 1.0, ptr %dright
  ret void
}

; CHECK:       define ptx_kernel void @dynamic_too__gradient(ptr %0, ptr %1, i32 %2) #[[DYNAMIC:[0-9]+]]
; CHECK:       [[UP:%.*]] = add i32 %2, 15
; CHECK-NEXT:  [[PADDED:%.*]] = and i32 [[UP]], -16
; CHECK-NEXT:  [[WIDE:%.*]] = zext i32 [[PADDED]] to i64
; CHECK-NEXT:  [[BEHIND:%.*]] = shl i64 [[WIDE]], 1
; CHECK-NEXT:  getelementptr i8, ptr addrspacecast (ptr addrspace(3) @adgen_moved_shadows to ptr), i64 [[BEHIND]]
define ptx_kernel void @dynamic_too(ptr %x) {
  ret void
}
define void @adgen_gradient_dynamic_too(ptr %x, ptr %dx, ptr %left, ptr %dynamic, ptr %dleft, ptr %ddynamic) #2 {
  store float 1.0, ptr %dleft
  store float 1.0, ptr %ddynamic
  ret void
}

; CHECK:       define ptx_kernel void @twice__second(ptr %0) #[[TWICE:[0-9]+]]
; CHECK:       call void @adgen_second_twice(ptr %0, ptr addrspacecast (ptr addrspace(3) @left to ptr),
; CHECK-SAME:  ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(3) @adgen_moved_shadows to ptr), i64 24800),
; CHECK-SAME:  ptr addrspacecast (ptr addrspace(3) @adgen_moved_shadows to ptr),
; CHECK-SAME:  ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(3) @adgen_moved_shadows to ptr), i64 49600))
define ptx_kernel void @twice(ptr %x) {
  ret void
}
define void @adgen_second_twice(ptr %x, ptr %left, ptr %cotangents, ptr %dleft, ptr %dcotangents) #3 {
  store float 1.0, ptr %dleft
  store float 1.0, ptr %dcotangents
  ret void
}

; CHECK-DAG: attributes #[[BOTH]] = {{{.*}}"adgen-moved-shadows"="25824"
; CHECK-DAG: attributes #[[DYNAMIC]] = {{{.*}}"adgen-moved-shadows"="24800"
; CHECK-DAG: attributes #[[TWICE]] = {{{.*}}"adgen-moved-shadows"="74400"
; CHECK-NOT: attributes #[[CONSTANT]] = {{{.*}}"adgen-moved-shadows"
attributes #0 = { "adgen-activity"="duplicated" "adgen-shared"="left:right" }
attributes #1 = { "adgen-activity"="duplicated" "adgen-shared"="left:right" }
attributes #2 = { "adgen-activity"="duplicated" "adgen-shared"="left:dynamic" }
attributes #3 = { "adgen-activity"="const" "adgen-shared"="left:adgen_cotangents_left" }
