; A cotangent that several threads may come to is loaded and set to zero by one exchange. On the host elements that are one
; thread's own keep their load and store, and those of one block are marked.
;
; RUN: %opt '-passes=adgen-consume-once<gpu>' -S %s | %filecheck %s --check-prefixes=BOTH,GPU
; RUN: %opt '-passes=adgen-consume-once<host>' -S %s | %filecheck %s --check-prefixes=BOTH,HOST

; y[i] under i < n, for any launch of one dimension.
; BOTH-LABEL: define void @own(
; GPU:          [[TAKEN:%.*]] = atomicrmw xchg ptr %at, float 0.000000e+00 monotonic, align 4
; GPU-NOT:      store float 0
; GPU:          atomicrmw fadd ptr %to, float %twice
; HOST-SAME:    [[ONE_BLOCK:#[0-9]+]]
; HOST:         load float, ptr %at
; HOST-NEXT:    store float 0.000000e+00, ptr %at
define void @own(ptr %x, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y, i32 %n) "adgen-activity"="d" {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %begin = mul i32 %block, %width
  %i = add i32 %begin, %thread
  %in = icmp slt i32 %i, %n
  br i1 %in, label %then, label %end
then:
  %wide = sext i32 %i to i64
  %at = getelementptr float, ptr %d_y, i64 %wide
  %d = load float, ptr %at
  store float 0.0, ptr %at
  %twice = fadd float %d, %d
  %to = getelementptr float, ptr %d_x, i64 %wide
  %old = atomicrmw fadd ptr %to, float %twice monotonic
  br label %end
end:
  ret void
}

; y[row * n + column] under column < n: the rows do not overlap.
; BOTH-LABEL: define void @rows(
; GPU:          atomicrmw xchg
; HOST-NOT:     atomicrmw xchg
; HOST:         ret void
define void @rows(ptr "adgen-shadow" %d_y, i32 %n, ptr %to) "adgen-activity"="d" {
entry:
  %block_x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width_x = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block_y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %width_y = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %thread_y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %begin_x = mul i32 %block_x, %width_x
  %column = add i32 %begin_x, %thread_x
  %begin_y = mul i32 %block_y, %width_y
  %row = add i32 %begin_y, %thread_y
  %in = icmp slt i32 %column, %n
  br i1 %in, label %then, label %end
then:
  %line = mul i32 %row, %n
  %i = add i32 %line, %column
  %wide = sext i32 %i to i64
  %at = getelementptr float, ptr %d_y, i64 %wide
  %d = load float, ptr %at
  store float 0.0, ptr %at
  store float %d, ptr %to
  br label %end
end:
  ret void
}

; y[blockIdx.x] by all threads of the block; a second row of blocks would come there too, as nothing asks for its place.
; BOTH-LABEL: define void @of_the_block(
; GPU:          atomicrmw xchg ptr %at, double 0.000000e+00 monotonic, align 8
; GPU-NOT:      adgen.blocks.own
; HOST-SAME:    [[ONE_BLOCK]]
; HOST:         atomicrmw xchg ptr %at, double 0.000000e+00 monotonic, align 8, !adgen.consumed !{{[0-9]+}}, !adgen.blocks.own
; BOTH:         ret void
define void @of_the_block(ptr "adgen-shadow" %d_y, ptr %to) "adgen-activity"="d" {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %wide = zext i32 %block to i64
  %at = getelementptr double, ptr %d_y, i64 %wide
  %d = load double, ptr %at
  store double 0.0, ptr %at
  store double %d, ptr %to
  ret void
}

; y[threadIdx.x] by all blocks, and y[place[i]]: others may come there.
; BOTH-LABEL: define void @of_all_blocks(
; BOTH:         atomicrmw xchg ptr %at, float 0.000000e+00 monotonic, align 4, !adgen.consumed !{{[0-9]+}}{{$}}
; BOTH:         atomicrmw xchg ptr %there, float 0.000000e+00 monotonic, align 4, !adgen.consumed !{{[0-9]+}}{{$}}
define void @of_all_blocks(ptr "adgen-shadow" %d_y, ptr "adgen-shadow" %d_z, ptr %place, ptr %to) "adgen-activity"="d" {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  store i32 %block, ptr %to
  %wide = zext i32 %thread to i64
  %at = getelementptr float, ptr %d_y, i64 %wide
  %d = load float, ptr %at
  store float 0.0, ptr %at
  store float %d, ptr %to
  %which = load i64, ptr %place
  %there = getelementptr float, ptr %d_z, i64 %which
  %e = load float, ptr %there
  store float 0.0, ptr %there
  store float %e, ptr %to
  ret void
}

; A number that is copied by bytes lies where one can be exchanged.
; BOTH-LABEL: define void @copied_by_bytes(
; GPU:          atomicrmw xchg ptr %at, float 0.000000e+00 monotonic, align 4
define void @copied_by_bytes(ptr "adgen-shared-shadow" %d_s, ptr %to, i64 %i) "adgen-activity"="d" {
  %at = getelementptr i8, ptr %d_s, i64 %i
  %d = load float, ptr %at, align 1
  store float 0.0, ptr %at, align 1
  %old = atomicrmw fadd ptr %to, float %d monotonic
  ret void
}

; Neighbours that store to the same element: a thread's elements overlap those of the next one.
; BOTH-LABEL: define void @overlapping(
; BOTH:         atomicrmw xchg ptr %at, float
; BOTH:         atomicrmw xchg ptr %next, float
define void @overlapping(ptr "adgen-shared-shadow" %d_s, ptr %to) "adgen-activity"="d" {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %thread to i64
  %at = getelementptr float, ptr %d_s, i64 %wide
  %d = load float, ptr %at
  store float 0.0, ptr %at
  %next = getelementptr i8, ptr %at, i64 4
  %e = load float, ptr %next
  store float 0.0, ptr %next
  store float %d, ptr %to
  store float %e, ptr %to
  ret void
}

; Vectors and halves, number by number; what is the thread's own, and the primal's memory, stay.
; BOTH-LABEL: define void @numbers(
; BOTH:         atomicrmw xchg ptr {{%.*}}, float 0.000000e+00 monotonic, align 8
; BOTH:         atomicrmw xchg ptr {{%.*}}, float 0.000000e+00 monotonic, align 4
; BOTH:         atomicrmw xchg ptr %d_h, i16 0 monotonic, align 2
; BOTH:         load float, ptr %own
; BOTH-NEXT:    store float 0.000000e+00, ptr %own
; BOTH:         load float, ptr %x
; BOTH-NEXT:    store float 0.000000e+00, ptr %x
define void @numbers(ptr %x, ptr "adgen-shadow" %d_v, ptr "adgen-shadow" %d_h, ptr %to) "adgen-activity"="d" {
  %own = alloca float
  %v = load <2 x float>, ptr %d_v
  store <2 x float> zeroinitializer, ptr %d_v
  store <2 x float> %v, ptr %to
  %h = load half, ptr %d_h
  store half 0.0, ptr %d_h
  store half %h, ptr %to
  %o = load float, ptr %own
  store float 0.0, ptr %own
  store float %o, ptr %to
  %p = load float, ptr %x
  store float 0.0, ptr %x
  store float %p, ptr %to
  ret void
}

; y[i] += z: what several threads did there would be a race.
; BOTH-LABEL: define void @updated(
; BOTH:         load float, ptr %d_y
; BOTH-NEXT:    store float 0.000000e+00, ptr %d_y
; BOTH-NEXT:    atomicrmw fadd ptr %d_y, float %d
; BOTH:         atomicrmw xchg ptr %d_z
define void @updated(ptr "adgen-shadow" %d_y, ptr "adgen-shadow" %d_z) "adgen-activity"="d" {
  %d = load float, ptr %d_y
  store float 0.0, ptr %d_y
  %old = atomicrmw fadd ptr %d_y, float %d monotonic
  %e = load float, ptr %d_z
  store float 0.0, ptr %d_z
  call void @llvm.nvvm.barrier0()
  %before = atomicrmw fadd ptr %d_z, float %e monotonic
  ret void
}

; HOST: attributes [[ONE_BLOCK]] = {{{.*}}"adgen-blocks-differ"="6,2147483647,2147483647,2147483647"
