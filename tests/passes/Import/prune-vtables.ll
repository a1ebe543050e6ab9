; A virtual function that no call reaches leaves the table: none of its type calls there, or none at its place. A call at a place that is not known may reach any function of
; its type, and classes with a base of another file keep theirs.
;
; RUN: %opt -passes=adgen-prune-vtables -S %s | %filecheck %s

@_ZTI4Base = constant { ptr, ptr } { ptr null, ptr null }
@_ZTI4Part = constant { ptr, ptr, ptr } { ptr null, ptr null, ptr @_ZTI4Base }
@_ZTI5Error = constant { ptr, ptr, ptr } { ptr null, ptr null, ptr @_ZTISt9exception }
@_ZTISt9exception = external constant ptr

; CHECK: @_ZTV4Part = constant { [6 x ptr] } { [6 x ptr] [ptr null, ptr @_ZTI4Part, ptr null, ptr @energy, ptr null, ptr @any] }
@_ZTV4Part = constant { [6 x ptr] } { [6 x ptr] [ptr null, ptr @_ZTI4Part, ptr @force, ptr @energy, ptr @print, ptr @any] }
; CHECK: @_ZTV5Error = constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr @_ZTI5Error, ptr @print] }
@_ZTV5Error = constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr @_ZTI5Error, ptr @print] }
; CHECK: @table = constant { [2 x ptr] } { [2 x ptr] [ptr @_ZTI4Base, ptr @print] }
@table = constant { [2 x ptr] } { [2 x ptr] [ptr @_ZTI4Base, ptr @print] }

define double @calls(ptr %object, ptr %given, double %x) {
  %table = load ptr, ptr %object
  %place = getelementptr inbounds i8, ptr %table, i64 8
  %f = load ptr, ptr %place
  %e = call double %f(ptr %object, double %x)
  %a = call float %given(ptr %object)
  ret double %e
}

define double @force(ptr %this, double %x) { ret double %x }
define double @energy(ptr %this, double %x) { ret double %x }
define void @print(ptr %this, ptr %stream) { ret void }
define float @any(ptr %this) { ret float 0.0 }
