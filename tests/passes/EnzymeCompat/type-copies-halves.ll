; Halves in shared memory of kernels, whose type nothing but a product or a conversion behind them shows.
;
; RUN: %opt -passes=adgen-type-copies -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; A shared array of 16 bits holds halves, as it is read as such. A choice among halves that are only moved is a float on
; its way, by which Enzyme sees its type.
; CHECK-LABEL: define half @adgen_body_padded(
; CHECK-SAME:    ptr "adgen-layout"="2[0f2]" %tile)
; CHECK:         [[VALUE:%.*]] = load half, ptr %x
; CHECK:         [[CHOICE:%.*]] = phi half [ [[VALUE]], %inside ], [ 0xH0000, %entry ]
; CHECK-NEXT:    [[WIDE:%.*]] = fpext half [[CHOICE]] to float
; CHECK-NEXT:    [[HALF:%.*]] = fptrunc float [[WIDE]] to half
; CHECK-NEXT:    store half [[HALF]], ptr %tile
; CHECK-NOT:     to i16
; CHECK:         ret half
define half @adgen_body_padded(ptr "adgen-layout"="2[0f2]" %x, i1 %is.inside, ptr "adgen-layout"="2[0i2]" %tile) "adgen-shared"="tile" {
entry:
  br i1 %is.inside, label %inside, label %end
inside:
  %value = load i16, ptr %x
  br label %end
end:
  %choice = phi i16 [ %value, %inside ], [ 0, %entry ]
  store i16 %choice, ptr %tile
  %read = load half, ptr %tile
  ret half %read
}

; What a copy says of where it begins holds of its first number.
; CHECK-LABEL: define void @adgen_body_pack(
; CHECK-NEXT:    load half, ptr %x, align 8
; CHECK:         load half, ptr {{.*}}, align 2
; CHECK:         load half, ptr {{.*}}, align 4
; CHECK:         store half {{.*}}, ptr %y, align 2
define void @adgen_body_pack(ptr "adgen-layout"="2[0f2]" %x, ptr "adgen-layout"="2[0f2]" %y) {
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr align 8 %x, i64 8, i1 false)
  ret void
}

; Of two halves in a word each is kept or not.
; CHECK-LABEL: define void @adgen_body_pairs(
; CHECK:         [[PAIR:%.*]] = load <2 x half>, ptr %x
; CHECK-NOT:     or i32
; CHECK:         select i1 %low, half {{.*}}, half 0xH0000
; CHECK-NOT:     or i32
; CHECK:         select i1 %high, half {{.*}}, half 0xH0000
; CHECK-NOT:     or i32
; CHECK:         store <2 x half>
define void @adgen_body_pairs(ptr "adgen-layout"="2[0f2]" %x, ptr "adgen-layout"="2[0f2]" %y, i1 %low, i1 %high) {
  %pair = load i32, ptr %x
  %upper = and i32 %pair, -65536
  %upper.or.none = select i1 %high, i32 %upper, i32 0
  %lower = and i32 %pair, 65535
  %lower.or.none = select i1 %low, i32 %lower, i32 0
  %both = or disjoint i32 %upper.or.none, %lower.or.none
  store i32 %both, ptr %y
  ret void
}

; Nothing says which numbers of 16 bits these are: they stay integers.
; CHECK-LABEL: define i16 @adgen_body_words(
; CHECK-SAME:    ptr "adgen-layout"="2[0i2]" %tile)
define i16 @adgen_body_words(i16 %x, ptr "adgen-layout"="2[0i2]" %tile) "adgen-shared"="tile" {
  store i16 %x, ptr %tile
  %read = load i16, ptr %tile
  ret i16 %read
}

; Numbers of which clang's word is lost have one that says nothing else.
; CHECK-LABEL: define void @adgen_body_moves(
; CHECK:         load float, ptr %x, align 4, !tbaa [[FLOAT:![0-9]+]]
; CHECK:         store float {{.*}}, !tbaa [[FLOAT]]
; CHECK:       [[FLOAT]] = !{[[KIND:![0-9]+]], [[KIND]], i64 0}
; CHECK:       [[KIND]] = !{!"float", [[ROOT:![0-9]+]], i64 0}
; CHECK:       [[ROOT]] = !{!"adgen float"}
define void @adgen_body_moves(ptr %x, ptr %y) {
  %v = load float, ptr %x
  store float %v, ptr %y
  ret void
}
