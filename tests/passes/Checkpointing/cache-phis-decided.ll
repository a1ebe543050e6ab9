; The largest number so far, found by one comparison after another in a loop: which way leads to a choice is decided by the
; choice before, so that there are twice as many ways to each next one. The tenth is kept.
;
; RUN: %opt -passes=adgen-cache-phis -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_decided(
; CHECK-NOT:     adgen_hold
; CHECK:       join10:
; CHECK-NEXT:    %most10 = phi float
; CHECK-NEXT:    call float @adgen_hold_ieee32(float %most10)
; CHECK-NOT:     adgen_hold
; CHECK:         ret void
define void @adgen_body_decided(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join11 ]
  br label %join0

join0:
  %at1 = getelementptr float, ptr %x, i64 1
  %value1 = load float, ptr %at1
  %is1 = fcmp ogt float %value1, 0.0
  br i1 %is1, label %then1, label %join1

then1:
  %square1 = fmul float %value1, %value1
  br label %join1

join1:
  %most1 = phi float [ 0.0, %join0 ], [ %square1, %then1 ]
  %at2 = getelementptr float, ptr %x, i64 2
  %value2 = load float, ptr %at2
  %is2 = fcmp ogt float %value2, %most1
  br i1 %is2, label %then2, label %join2

then2:
  %square2 = fmul float %value2, %value2
  br label %join2

join2:
  %most2 = phi float [ %most1, %join1 ], [ %square2, %then2 ]
  %at3 = getelementptr float, ptr %x, i64 3
  %value3 = load float, ptr %at3
  %is3 = fcmp ogt float %value3, %most2
  br i1 %is3, label %then3, label %join3

then3:
  %square3 = fmul float %value3, %value3
  br label %join3

join3:
  %most3 = phi float [ %most2, %join2 ], [ %square3, %then3 ]
  %at4 = getelementptr float, ptr %x, i64 4
  %value4 = load float, ptr %at4
  %is4 = fcmp ogt float %value4, %most3
  br i1 %is4, label %then4, label %join4

then4:
  %square4 = fmul float %value4, %value4
  br label %join4

join4:
  %most4 = phi float [ %most3, %join3 ], [ %square4, %then4 ]
  %at5 = getelementptr float, ptr %x, i64 5
  %value5 = load float, ptr %at5
  %is5 = fcmp ogt float %value5, %most4
  br i1 %is5, label %then5, label %join5

then5:
  %square5 = fmul float %value5, %value5
  br label %join5

join5:
  %most5 = phi float [ %most4, %join4 ], [ %square5, %then5 ]
  %at6 = getelementptr float, ptr %x, i64 6
  %value6 = load float, ptr %at6
  %is6 = fcmp ogt float %value6, %most5
  br i1 %is6, label %then6, label %join6

then6:
  %square6 = fmul float %value6, %value6
  br label %join6

join6:
  %most6 = phi float [ %most5, %join5 ], [ %square6, %then6 ]
  %at7 = getelementptr float, ptr %x, i64 7
  %value7 = load float, ptr %at7
  %is7 = fcmp ogt float %value7, %most6
  br i1 %is7, label %then7, label %join7

then7:
  %square7 = fmul float %value7, %value7
  br label %join7

join7:
  %most7 = phi float [ %most6, %join6 ], [ %square7, %then7 ]
  %at8 = getelementptr float, ptr %x, i64 8
  %value8 = load float, ptr %at8
  %is8 = fcmp ogt float %value8, %most7
  br i1 %is8, label %then8, label %join8

then8:
  %square8 = fmul float %value8, %value8
  br label %join8

join8:
  %most8 = phi float [ %most7, %join7 ], [ %square8, %then8 ]
  %at9 = getelementptr float, ptr %x, i64 9
  %value9 = load float, ptr %at9
  %is9 = fcmp ogt float %value9, %most8
  br i1 %is9, label %then9, label %join9

then9:
  %square9 = fmul float %value9, %value9
  br label %join9

join9:
  %most9 = phi float [ %most8, %join8 ], [ %square9, %then9 ]
  %at10 = getelementptr float, ptr %x, i64 10
  %value10 = load float, ptr %at10
  %is10 = fcmp ogt float %value10, %most9
  br i1 %is10, label %then10, label %join10

then10:
  %square10 = fmul float %value10, %value10
  br label %join10

join10:
  %most10 = phi float [ %most9, %join9 ], [ %square10, %then10 ]
  %at11 = getelementptr float, ptr %x, i64 11
  %value11 = load float, ptr %at11
  %is11 = fcmp ogt float %value11, %most10
  br i1 %is11, label %then11, label %join11

then11:
  %square11 = fmul float %value11, %value11
  br label %join11

join11:
  %most11 = phi float [ %most10, %join10 ], [ %square11, %then11 ]
  %out = getelementptr float, ptr %y, i64 %i
  store float %most11, ptr %out
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit

exit:
  ret void
}
