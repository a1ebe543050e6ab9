// Every pass of the plugin, in the order in which the pipeline uses them.
#pragma once

#include "Adgen.h"

namespace adgen {

#define ADGEN_PASS(NAME)                                                                                \
  struct NAME : llvm::PassInfoMixin<NAME> {                                                             \
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);                        \
    static bool isRequired() { return true; }                                                           \
  }
#define ADGEN_PASS_WITH_OPTION(NAME)                                                                    \
  struct NAME : llvm::PassInfoMixin<NAME> {                                                             \
    std::string Option;                                                                                 \
    explicit NAME(llvm::StringRef Option) : Option(Option.str()) {}                                     \
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);                        \
    static bool isRequired() { return true; }                                                           \
  }

ADGEN_PASS(Describe);                        // prints every entry's signature as JSON
ADGEN_PASS_WITH_OPTION(UserRules);           // functions without derivative, or with the user's own
ADGEN_PASS_WITH_OPTION(Select);              // keeps the named kernels, inlines what they call
ADGEN_PASS_WITH_OPTION(LinkDevice);          // links what is needed of device libraries
ADGEN_PASS(CanonicalizeNvvm);                // NVVM arithmetic becomes LLVM arithmetic
ADGEN_PASS(TranslateAssembly);               // inline PTX of plain arithmetic becomes instructions
ADGEN_PASS(ResolveCalls);                    // calls through pointers become choices among functions
ADGEN_PASS(RecogniseSums);                   // sums made of compare-and-swap become atomic additions
ADGEN_PASS(SplitMath);                       // mathematics with our own derivatives
ADGEN_PASS(MarkMath);                        // tells Enzyme which functions it has rules for
ADGEN_PASS(KeepMath);                        // mathematics is not inlined yet
ADGEN_PASS(SplitLocals);                     // local structs become a variable for each member
ADGEN_PASS_WITH_OPTION(CopyAtOnce);          // asynchronous copies are done where they are begun
ADGEN_PASS_WITH_OPTION(FindSharedConstants); // shared arrays that have no derivative
ADGEN_PASS_WITH_OPTION(ReplaceCooperation);  // barriers become calls that have a rule
ADGEN_PASS(MakeRegions);                     // parallel regions become ordinary functions
ADGEN_PASS(ScheduleLoops);                   // loops shared by threads become ordinary loops
ADGEN_PASS(SilenceStreams);                  // text that is written has no derivative
ADGEN_PASS(RewriteOpenMP);                   // what threads do with each other, in forms with a derivative
ADGEN_PASS(RefuseUnsupported);   // names what cannot be differentiated, with file and line
ADGEN_PASS_WITH_OPTION(ShadowVariables);     // device variables with a derivative get shadows
ADGEN_PASS(ShadowStatics);                   // variables of C++ files have shadows that each gradient clears
ADGEN_PASS_WITH_OPTION(MakeBodies);          // an ordinary function for every entry
ADGEN_PASS_WITH_OPTION(MakeGradients);       // asks Enzyme for the gradient of every body
ADGEN_PASS(GuardChoices);                    // pointers to memory with and without derivatives are told apart
ADGEN_PASS(DiscardOutputs);                  // what nobody needs is not computed again
ADGEN_PASS_WITH_OPTION(MakeTangents);        // asks Enzyme to carry tangents through every body
ADGEN_PASS(TypeCopies);                      // copies of floating point as integers get their types
ADGEN_PASS(FollowBits);                      // bits of floating point as integers are refused or hidden
ADGEN_PASS(ShowBits);                        // and are seen again after Enzyme
ADGEN_PASS(PinRules);                        // calls with our own derivatives stay in the forward sweep
ADGEN_PASS(StoreResults);                    // structs that calls through pointers return are stored
ADGEN_PASS(ForgetMethods);                   // virtual functions that nothing calls leave their tables
ADGEN_PASS(UseResults);                      // numbers that they return have cotangents
ADGEN_PASS(SeeOverwrites);                   // what a later iteration overwrites is kept
ADGEN_PASS(SeparateLoads);                   // loops that read the same again use other addresses
ADGEN_PASS(HoldJoins);                       // integers that depend on the way taken are kept
ADGEN_PASS(HoldSums);                        // sums in loops are kept instead of their terms
ADGEN_PASS(HoldExtremes);                    // running minima keep which way was chosen
ADGEN_PASS(DefineValues);                    // numbers that some way leaves without a value are zero there
ADGEN_PASS(SeparateCarried);                 // what a loop carries and uses is not taken for its last value
ADGEN_PASS(LoosenAlignments);                // memory begins where the heap may
ADGEN_PASS(UnifyExits);                      // loops have exits that Enzyme counts rightly
ADGEN_PASS(AskTogether);                     // conditions that lead past the same code are asked together
ADGEN_PASS(NestJoins);                       // ways meet two by two
ADGEN_PASS(CountHalvings);                   // loops that halve or double count their iterations
ADGEN_PASS(SegmentRecurrences);              // loops that carry values take several steps at once
ADGEN_PASS(KeepLoops);                       // loops are unrolled completely or not at all
ADGEN_PASS(FloorCounts);                     // loops that may not run need no memory then
ADGEN_PASS(ReloadShared);                    // shared memory is read again instead of kept
ADGEN_PASS(ExpandConstants);                 // constant expressions become instructions
ADGEN_PASS(PrintUsage);                      // prints what each body reads and writes as JSON
ADGEN_PASS(UnrollLocals);                    // short loops over local arrays become straight code
ADGEN_PASS(IndexPointers);                   // pointers that walk in unequal steps become offsets from where they began
ADGEN_PASS(CaptureValues);                   // regions get pointers instead of variables that hold them
ADGEN_PASS(HandOver);                        // forks hand over what regions read of objects
ADGEN_PASS(MarkConstants);                   // what is read of memory that holds constants is constant
ADGEN_PASS(OutlineIterations);               // iterations that can be computed again become functions
ADGEN_PASS(RestoreOverwritten);              // what overwrites an array keeps what was there, and its readers keep nothing
ADGEN_PASS(VerifyGradients);                 // what Enzyme has made is what was asked for
ADGEN_PASS_WITH_OPTION(MarkUnchanged);       // what is only read is read again instead of kept
ADGEN_PASS(HintTypes);                       // tells Enzyme what parallel regions find behind pointers
ADGEN_PASS(DeclareCopyAdjoints);             // the adjoints of copies are ours, not Enzyme's
ADGEN_PASS(ExpandCopyAdjoints);              // and become loops, atomic where threads may meet
ADGEN_PASS(AddAtomically);                   // virtual functions that threads call add to shadows by atomics
ADGEN_PASS(CallRegions);                     // tangents are carried through a region that is called
ADGEN_PASS(ForwardRules);                    // what has a gradient of ours gets a forward derivative
ADGEN_PASS(LowerOverwrites);                 // what was overwritten is put back in the reverse sweep
ADGEN_PASS(ForgetResults);                   // what is only computed for the result is not computed in a gradient
ADGEN_PASS(ForkRegions);                     // what carries tangents through a region is forked
ADGEN_PASS_WITH_OPTION(AdoptGradients);      // gradients become what tangents are carried through
ADGEN_PASS_WITH_OPTION(LinkSeconds);         // and the result comes to the gradients
ADGEN_PASS(KeepOnce);                        // what stays the same is kept once, not once an iteration
ADGEN_PASS(ForgetGuards);                    // what was put in for Enzyme alone is taken out
ADGEN_PASS(ExactFlags);                      // derivatives are computed as exactly as the primal
ADGEN_PASS(RecomputeIterations);             // iterations keep nothing and are computed again
ADGEN_PASS(OwnMemory);                       // what a thread has allocated itself needs no atomics
ADGEN_PASS(SumCaptured);                     // what a thread adds to a captured variable is added once
ADGEN_PASS(SizeTeams);                       // forward and reverse sweep have teams of one size
ADGEN_PASS(RestoreMath);                     // names of the host's math library become the device's
ADGEN_PASS(HostRules);                       // derivatives of shuffles that a warp does at once on the host
ADGEN_PASS(LowerCooperation);                // what had a rule is inlined again
ADGEN_PASS(FuseSweeps);                      // iterations are reversed right after they were computed
ADGEN_PASS(JoinBlocks);                      // blocks that a loop keeps are one
ADGEN_PASS(Tape);                            // kept values leave the heap for a tape
ADGEN_PASS(MergeAccumulations);              // several additions into one element become one
ADGEN_PASS(ZeroLast);                        // consumed cotangents are zeroed behind all loads
ADGEN_PASS(OwnAccumulations);                // what one thread alone adds to needs no atomic
ADGEN_PASS(ShareReciprocals);                // several divisions by one square root become one
ADGEN_PASS(GatherAccumulations);             // a thread adds up what its block adds to one shared element
ADGEN_PASS(RotateAccumulations);             // lanes begin a loop at different elements
ADGEN_PASS(ReduceAccumulations);             // the warp adds up before it accumulates
ADGEN_PASS(PairSines);                       // the sine and the cosine of one angle are computed together
ADGEN_PASS(QuickPowers);                     // powers of ordinary numbers skip the special cases
ADGEN_PASS(LoadEarly);                       // loads come before divisions
ADGEN_PASS(ReloadInputs);                    // inputs are read again, not kept
ADGEN_PASS(RecordAccumulations);             // neighbouring elements are added to at once
ADGEN_PASS(ExchangeCotangents);              // cotangents between loads are read and zeroed at once
ADGEN_PASS(InlineMath);                      // mathematics is inlined at last
ADGEN_PASS(GuardHeap);                       // an exhausted device heap is reported
ADGEN_PASS(MakeKernels);                     // gradient kernels with shadows of shared memory
ADGEN_PASS(VerifyDevice);                    // nothing undefined is left
ADGEN_PASS(RoundDirected);                   // directed roundings become arithmetic in double precision
ADGEN_PASS_WITH_OPTION(RetargetAmd);         // final device IR becomes IR of an AMD GPU
ADGEN_PASS_WITH_OPTION(RetargetHost);        // device IR becomes IR of the host
ADGEN_PASS(KeepMemory);                      // what the gradients of kernels keep is given back
ADGEN_PASS(MakeHostEntries);                 // exported functions that run blocks in parallel
ADGEN_PASS(StripDebug);                      // no debug information in the binary
ADGEN_PASS(SplitThreads);                    // blocks become loops between barriers
ADGEN_PASS(ClampLoops);                      // loops over threads run from the first that has something to do to the last
ADGEN_PASS(SkipZeros);                       // what is added for a cotangent of zero is skipped
ADGEN_PASS(RecomputeKept);                   // what follows from other kept numbers is not kept
ADGEN_PASS(KeepResults);                     // results that the reverse sweep needs again are kept in loops
ADGEN_PASS(SumThreads);                      // what all threads of a row add to one element is added once
ADGEN_PASS(PartAdditions);                   // what threads of a row add to several places of an array is added place after place
ADGEN_PASS_WITH_OPTION(VectorMath);          // calls of mathematics that the C library has for whole registers

} // namespace adgen
