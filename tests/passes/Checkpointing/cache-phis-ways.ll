; In a loop a choice is found again; of choices that follow each other each doubles the ways to the next one, and the
; tenth in a row is kept.
;
; RUN: %opt -passes=adgen-cache-phis -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_choices(
; CHECK:       join9:
; CHECK-NOT:     call
; CHECK:       join10:
; CHECK-NEXT:    %count10 = phi i32
; CHECK-NEXT:    %[[HELD:.*]] = call i32 @adgen_hold_i32(i32 %count10)
; CHECK:       join11:
; CHECK-NEXT:    %count11 = phi i32 [ %[[HELD]], %join10 ], [ %more11, %then11 ]
; CHECK-NOT:     adgen_hold
; CHECK:         ret void
define void @adgen_body_choices(ptr %x, ptr %y, i64 %n) {
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
  %more1 = add i32 0, 1
  br label %join1

join1:
  %count1 = phi i32 [ 0, %join0 ], [ %more1, %then1 ]
  %at2 = getelementptr float, ptr %x, i64 2
  %value2 = load float, ptr %at2
  %is2 = fcmp ogt float %value2, 0.0
  br i1 %is2, label %then2, label %join2

then2:
  %more2 = add i32 %count1, 2
  br label %join2

join2:
  %count2 = phi i32 [ %count1, %join1 ], [ %more2, %then2 ]
  %at3 = getelementptr float, ptr %x, i64 3
  %value3 = load float, ptr %at3
  %is3 = fcmp ogt float %value3, 0.0
  br i1 %is3, label %then3, label %join3

then3:
  %more3 = add i32 %count2, 3
  br label %join3

join3:
  %count3 = phi i32 [ %count2, %join2 ], [ %more3, %then3 ]
  %at4 = getelementptr float, ptr %x, i64 4
  %value4 = load float, ptr %at4
  %is4 = fcmp ogt float %value4, 0.0
  br i1 %is4, label %then4, label %join4

then4:
  %more4 = add i32 %count3, 4
  br label %join4

join4:
  %count4 = phi i32 [ %count3, %join3 ], [ %more4, %then4 ]
  %at5 = getelementptr float, ptr %x, i64 5
  %value5 = load float, ptr %at5
  %is5 = fcmp ogt float %value5, 0.0
  br i1 %is5, label %then5, label %join5

then5:
  %more5 = add i32 %count4, 5
  br label %join5

join5:
  %count5 = phi i32 [ %count4, %join4 ], [ %more5, %then5 ]
  %at6 = getelementptr float, ptr %x, i64 6
  %value6 = load float, ptr %at6
  %is6 = fcmp ogt float %value6, 0.0
  br i1 %is6, label %then6, label %join6

then6:
  %more6 = add i32 %count5, 6
  br label %join6

join6:
  %count6 = phi i32 [ %count5, %join5 ], [ %more6, %then6 ]
  %at7 = getelementptr float, ptr %x, i64 7
  %value7 = load float, ptr %at7
  %is7 = fcmp ogt float %value7, 0.0
  br i1 %is7, label %then7, label %join7

then7:
  %more7 = add i32 %count6, 7
  br label %join7

join7:
  %count7 = phi i32 [ %count6, %join6 ], [ %more7, %then7 ]
  %at8 = getelementptr float, ptr %x, i64 8
  %value8 = load float, ptr %at8
  %is8 = fcmp ogt float %value8, 0.0
  br i1 %is8, label %then8, label %join8

then8:
  %more8 = add i32 %count7, 8
  br label %join8

join8:
  %count8 = phi i32 [ %count7, %join7 ], [ %more8, %then8 ]
  %at9 = getelementptr float, ptr %x, i64 9
  %value9 = load float, ptr %at9
  %is9 = fcmp ogt float %value9, 0.0
  br i1 %is9, label %then9, label %join9

then9:
  %more9 = add i32 %count8, 9
  br label %join9

join9:
  %count9 = phi i32 [ %count8, %join8 ], [ %more9, %then9 ]
  %at10 = getelementptr float, ptr %x, i64 10
  %value10 = load float, ptr %at10
  %is10 = fcmp ogt float %value10, 0.0
  br i1 %is10, label %then10, label %join10

then10:
  %more10 = add i32 %count9, 10
  br label %join10

join10:
  %count10 = phi i32 [ %count9, %join9 ], [ %more10, %then10 ]
  %at11 = getelementptr float, ptr %x, i64 11
  %value11 = load float, ptr %at11
  %is11 = fcmp ogt float %value11, 0.0
  br i1 %is11, label %then11, label %join11

then11:
  %more11 = add i32 %count10, 11
  br label %join11

join11:
  %count11 = phi i32 [ %count10, %join10 ], [ %more11, %then11 ]
  %out = getelementptr float, ptr %y, i32 %count11
  store float 1.0, ptr %out
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %done

done:
  ret void
}
