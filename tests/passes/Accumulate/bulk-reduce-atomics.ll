; Many neighbouring elements are added to by way of shared memory, with one bulk reduction.
;
; RUN: %opt -passes=adgen-bulk-reduce-atomics,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; One place a thread of the block: twelve doubles, and room to begin where they begin in memory.
; CHECK: @adgen_exchange_record.records112 = internal addrspace(3) global [28672 x i8] undef, align 16

; CHECK-LABEL: define void @adgen_gradient_record(
; CHECK:         [[HAS:%.*]] = call i1 @adgen_has_slot(i32 112, i32 28672)
; CHECK-NEXT:    br i1 [[HAS]], label %[[YES:.*]], label %[[NO:.*]]
; CHECK:       [[YES]]:
; CHECK-NEXT:    [[MINE:%.*]] = call ptr addrspace(3) @adgen_begin_record(ptr %at, ptr addrspace(3) @adgen_exchange_record.records112, i32 112)
; CHECK-COUNT-12: store double %v, ptr addrspace(3)
; CHECK-NEXT:    call void @adgen_end_record_f64(ptr %at, ptr addrspace(3) [[MINE]], i32 12)
; CHECK:       [[NO]]:
; CHECK-COUNT-12: atomicrmw fadd
; CHECK-NOT:     atomicrmw
; CHECK:         call void @adgen_end_records()
; CHECK-NEXT:    ret void
define void @adgen_gradient_record(double %v, i64 %i, ptr "adgen-shadow" %d_x) "adgen-activity"="const" {
  %at = getelementptr [12 x double], ptr %d_x, i64 %i
  atomicrmw fadd ptr %at, double %v monotonic
  %p2 = getelementptr i8, ptr %at, i64 16
  atomicrmw fadd ptr %p2, double %v monotonic
  %p1 = getelementptr i8, ptr %at, i64 8
  atomicrmw fadd ptr %p1, double %v monotonic
  %p3 = getelementptr i8, ptr %at, i64 24
  atomicrmw fadd ptr %p3, double %v monotonic
  %p4 = getelementptr i8, ptr %at, i64 32
  atomicrmw fadd ptr %p4, double %v monotonic
  %p5 = getelementptr i8, ptr %at, i64 40
  atomicrmw fadd ptr %p5, double %v monotonic
  %p6 = getelementptr i8, ptr %at, i64 48
  atomicrmw fadd ptr %p6, double %v monotonic
  %p7 = getelementptr i8, ptr %at, i64 56
  atomicrmw fadd ptr %p7, double %v monotonic
  %p8 = getelementptr i8, ptr %at, i64 64
  atomicrmw fadd ptr %p8, double %v monotonic
  %p9 = getelementptr i8, ptr %at, i64 72
  atomicrmw fadd ptr %p9, double %v monotonic
  %p10 = getelementptr i8, ptr %at, i64 80
  atomicrmw fadd ptr %p10, double %v monotonic
  %p11 = getelementptr i8, ptr %at, i64 88
  atomicrmw fadd ptr %p11, double %v monotonic
  ret void
}

; The same behind a pointer of a struct, whichever way it was found.
; CHECK-LABEL: define void @adgen_gradient_member(
; CHECK:         call ptr addrspace(3) @adgen_begin_record(ptr %at, ptr addrspace(3) @adgen_exchange_member.records112, i32 112)
; CHECK:         call void @adgen_end_records()
; CHECK-NEXT:    ret void
define void @adgen_gradient_member(ptr "adgen-struct"="16" %s, double %v, i64 %i, i1 %c, ptr %d_s) "adgen-activity"="duplicated:const:const:const" {
  %d_x = load ptr, ptr %d_s
  %one = getelementptr [12 x double], ptr %d_x, i64 %i
  br i1 %c, label %then, label %end
then:
  %d_again = load ptr, ptr %d_s
  %other = getelementptr [12 x double], ptr %d_again, i64 7
  br label %end
end:
  %at = phi ptr [ %one, %0 ], [ %other, %then ]
  atomicrmw fadd ptr %at, double %v monotonic
  %p1 = getelementptr i8, ptr %at, i64 8
  atomicrmw fadd ptr %p1, double %v monotonic
  %p2 = getelementptr i8, ptr %at, i64 16
  atomicrmw fadd ptr %p2, double %v monotonic
  %p3 = getelementptr i8, ptr %at, i64 24
  atomicrmw fadd ptr %p3, double %v monotonic
  %p4 = getelementptr i8, ptr %at, i64 32
  atomicrmw fadd ptr %p4, double %v monotonic
  %p5 = getelementptr i8, ptr %at, i64 40
  atomicrmw fadd ptr %p5, double %v monotonic
  %p6 = getelementptr i8, ptr %at, i64 48
  atomicrmw fadd ptr %p6, double %v monotonic
  %p7 = getelementptr i8, ptr %at, i64 56
  atomicrmw fadd ptr %p7, double %v monotonic
  %p8 = getelementptr i8, ptr %at, i64 64
  atomicrmw fadd ptr %p8, double %v monotonic
  %p9 = getelementptr i8, ptr %at, i64 72
  atomicrmw fadd ptr %p9, double %v monotonic
  %p10 = getelementptr i8, ptr %at, i64 80
  atomicrmw fadd ptr %p10, double %v monotonic
  %p11 = getelementptr i8, ptr %at, i64 88
  atomicrmw fadd ptr %p11, double %v monotonic
  ret void
}

; Not where the shadow is read by way of a pointer that is not known.
; CHECK-LABEL: define void @adgen_gradient_member_read(
; CHECK-NOT:     @adgen_begin_record
; CHECK:         ret void
define void @adgen_gradient_member_read(ptr "adgen-struct"="16" %s, double %v, i64 %i, ptr %rows, ptr %d_s, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:const:const:const" {
  %at = load ptr, ptr %d_s
  atomicrmw fadd ptr %at, double %v monotonic
  %p1 = getelementptr i8, ptr %at, i64 8
  atomicrmw fadd ptr %p1, double %v monotonic
  %p2 = getelementptr i8, ptr %at, i64 16
  atomicrmw fadd ptr %p2, double %v monotonic
  %p3 = getelementptr i8, ptr %at, i64 24
  atomicrmw fadd ptr %p3, double %v monotonic
  %p4 = getelementptr i8, ptr %at, i64 32
  atomicrmw fadd ptr %p4, double %v monotonic
  %p5 = getelementptr i8, ptr %at, i64 40
  atomicrmw fadd ptr %p5, double %v monotonic
  %p6 = getelementptr i8, ptr %at, i64 48
  atomicrmw fadd ptr %p6, double %v monotonic
  %p7 = getelementptr i8, ptr %at, i64 56
  atomicrmw fadd ptr %p7, double %v monotonic
  %p8 = getelementptr i8, ptr %at, i64 64
  atomicrmw fadd ptr %p8, double %v monotonic
  %p9 = getelementptr i8, ptr %at, i64 72
  atomicrmw fadd ptr %p9, double %v monotonic
  %p10 = getelementptr i8, ptr %at, i64 80
  atomicrmw fadd ptr %p10, double %v monotonic
  %p11 = getelementptr i8, ptr %at, i64 88
  atomicrmw fadd ptr %p11, double %v monotonic
  %unknown = load ptr, ptr %rows
  %seen = load double, ptr %unknown
  store double %seen, ptr %d_y
  ret void
}

; Fewer bytes on either side of a gap: with atomics.
; CHECK-LABEL: define void @adgen_gradient_few(
; CHECK-NOT:     call
; CHECK:         ret void
define void @adgen_gradient_few(double %v, i64 %i, ptr "adgen-shadow" %d_x) "adgen-activity"="const" {
  %at = getelementptr [16 x double], ptr %d_x, i64 %i
  atomicrmw fadd ptr %at, double %v monotonic
  %p1 = getelementptr i8, ptr %at, i64 8
  atomicrmw fadd ptr %p1, double %v monotonic
  %p2 = getelementptr i8, ptr %at, i64 16
  atomicrmw fadd ptr %p2, double %v monotonic
  %p3 = getelementptr i8, ptr %at, i64 24
  atomicrmw fadd ptr %p3, double %v monotonic
  %p4 = getelementptr i8, ptr %at, i64 32
  atomicrmw fadd ptr %p4, double %v monotonic
  %p6 = getelementptr i8, ptr %at, i64 48
  atomicrmw fadd ptr %p6, double %v monotonic
  %p7 = getelementptr i8, ptr %at, i64 56
  atomicrmw fadd ptr %p7, double %v monotonic
  %p8 = getelementptr i8, ptr %at, i64 64
  atomicrmw fadd ptr %p8, double %v monotonic
  %p9 = getelementptr i8, ptr %at, i64 72
  atomicrmw fadd ptr %p9, double %v monotonic
  %p10 = getelementptr i8, ptr %at, i64 80
  atomicrmw fadd ptr %p10, double %v monotonic
  %p11 = getelementptr i8, ptr %at, i64 88
  atomicrmw fadd ptr %p11, double %v monotonic
  %p12 = getelementptr i8, ptr %at, i64 96
  atomicrmw fadd ptr %p12, double %v monotonic
  %p13 = getelementptr i8, ptr %at, i64 104
  atomicrmw fadd ptr %p13, double %v monotonic
  %p14 = getelementptr i8, ptr %at, i64 112
  atomicrmw fadd ptr %p14, double %v monotonic
  %p15 = getelementptr i8, ptr %at, i64 120
  atomicrmw fadd ptr %p15, double %v monotonic
  ret void
}

; The same with a shadow that is read.
; CHECK-LABEL: define void @adgen_gradient_read(
; CHECK-NOT:     @adgen_begin_record
; CHECK:         ret void
define void @adgen_gradient_read(float %v, i64 %i, ptr "adgen-shadow" %d_x) "adgen-activity"="const" {
  %old = load float, ptr %d_x
  %sum = fadd float %old, %v
  %at = getelementptr [24 x float], ptr %d_x, i64 %i
  atomicrmw fadd ptr %at, float %sum monotonic
  %p1 = getelementptr i8, ptr %at, i64 4
  atomicrmw fadd ptr %p1, float %v monotonic
  %p2 = getelementptr i8, ptr %at, i64 8
  atomicrmw fadd ptr %p2, float %v monotonic
  %p3 = getelementptr i8, ptr %at, i64 12
  atomicrmw fadd ptr %p3, float %v monotonic
  %p4 = getelementptr i8, ptr %at, i64 16
  atomicrmw fadd ptr %p4, float %v monotonic
  %p5 = getelementptr i8, ptr %at, i64 20
  atomicrmw fadd ptr %p5, float %v monotonic
  %p6 = getelementptr i8, ptr %at, i64 24
  atomicrmw fadd ptr %p6, float %v monotonic
  %p7 = getelementptr i8, ptr %at, i64 28
  atomicrmw fadd ptr %p7, float %v monotonic
  %p8 = getelementptr i8, ptr %at, i64 32
  atomicrmw fadd ptr %p8, float %v monotonic
  %p9 = getelementptr i8, ptr %at, i64 36
  atomicrmw fadd ptr %p9, float %v monotonic
  %p10 = getelementptr i8, ptr %at, i64 40
  atomicrmw fadd ptr %p10, float %v monotonic
  %p11 = getelementptr i8, ptr %at, i64 44
  atomicrmw fadd ptr %p11, float %v monotonic
  %p12 = getelementptr i8, ptr %at, i64 48
  atomicrmw fadd ptr %p12, float %v monotonic
  %p13 = getelementptr i8, ptr %at, i64 52
  atomicrmw fadd ptr %p13, float %v monotonic
  %p14 = getelementptr i8, ptr %at, i64 56
  atomicrmw fadd ptr %p14, float %v monotonic
  %p15 = getelementptr i8, ptr %at, i64 60
  atomicrmw fadd ptr %p15, float %v monotonic
  %p16 = getelementptr i8, ptr %at, i64 64
  atomicrmw fadd ptr %p16, float %v monotonic
  %p17 = getelementptr i8, ptr %at, i64 68
  atomicrmw fadd ptr %p17, float %v monotonic
  %p18 = getelementptr i8, ptr %at, i64 72
  atomicrmw fadd ptr %p18, float %v monotonic
  %p19 = getelementptr i8, ptr %at, i64 76
  atomicrmw fadd ptr %p19, float %v monotonic
  %p20 = getelementptr i8, ptr %at, i64 80
  atomicrmw fadd ptr %p20, float %v monotonic
  %p21 = getelementptr i8, ptr %at, i64 84
  atomicrmw fadd ptr %p21, float %v monotonic
  %p22 = getelementptr i8, ptr %at, i64 88
  atomicrmw fadd ptr %p22, float %v monotonic
  %p23 = getelementptr i8, ptr %at, i64 92
  atomicrmw fadd ptr %p23, float %v monotonic
  ret void
}

; Two records whose additions are mixed.
; CHECK-LABEL: define void @adgen_gradient_mixed(
; CHECK:         call void @adgen_end_record_f64(ptr %d_x
; CHECK:         call void @adgen_end_record_f64(ptr %d_y
; CHECK:         ret void
define void @adgen_gradient_mixed(double %v, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="const" {
  atomicrmw fadd ptr %d_x, double %v monotonic
  atomicrmw fadd ptr %d_y, double %v monotonic
  %x1 = getelementptr i8, ptr %d_x, i64 8
  atomicrmw fadd ptr %x1, double %v monotonic
  %y1 = getelementptr i8, ptr %d_y, i64 8
  atomicrmw fadd ptr %y1, double %v monotonic
  %x2 = getelementptr i8, ptr %d_x, i64 16
  atomicrmw fadd ptr %x2, double %v monotonic
  %y2 = getelementptr i8, ptr %d_y, i64 16
  atomicrmw fadd ptr %y2, double %v monotonic
  %x3 = getelementptr i8, ptr %d_x, i64 24
  atomicrmw fadd ptr %x3, double %v monotonic
  %y3 = getelementptr i8, ptr %d_y, i64 24
  atomicrmw fadd ptr %y3, double %v monotonic
  %x4 = getelementptr i8, ptr %d_x, i64 32
  atomicrmw fadd ptr %x4, double %v monotonic
  %y4 = getelementptr i8, ptr %d_y, i64 32
  atomicrmw fadd ptr %y4, double %v monotonic
  %x5 = getelementptr i8, ptr %d_x, i64 40
  atomicrmw fadd ptr %x5, double %v monotonic
  %y5 = getelementptr i8, ptr %d_y, i64 40
  atomicrmw fadd ptr %y5, double %v monotonic
  %x6 = getelementptr i8, ptr %d_x, i64 48
  atomicrmw fadd ptr %x6, double %v monotonic
  %y6 = getelementptr i8, ptr %d_y, i64 48
  atomicrmw fadd ptr %y6, double %v monotonic
  %x7 = getelementptr i8, ptr %d_x, i64 56
  atomicrmw fadd ptr %x7, double %v monotonic
  %y7 = getelementptr i8, ptr %d_y, i64 56
  atomicrmw fadd ptr %y7, double %v monotonic
  %x8 = getelementptr i8, ptr %d_x, i64 64
  atomicrmw fadd ptr %x8, double %v monotonic
  %y8 = getelementptr i8, ptr %d_y, i64 64
  atomicrmw fadd ptr %y8, double %v monotonic
  %x9 = getelementptr i8, ptr %d_x, i64 72
  atomicrmw fadd ptr %x9, double %v monotonic
  %y9 = getelementptr i8, ptr %d_y, i64 72
  atomicrmw fadd ptr %y9, double %v monotonic
  %x10 = getelementptr i8, ptr %d_x, i64 80
  atomicrmw fadd ptr %x10, double %v monotonic
  %y10 = getelementptr i8, ptr %d_y, i64 80
  atomicrmw fadd ptr %y10, double %v monotonic
  %x11 = getelementptr i8, ptr %d_x, i64 88
  atomicrmw fadd ptr %x11, double %v monotonic
  %y11 = getelementptr i8, ptr %d_y, i64 88
  atomicrmw fadd ptr %y11, double %v monotonic
  ret void
}
