// Registers the passes with opt: -load-pass-plugin=libadgen-passes.so -passes='adgen-...'.
#include "Passes.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"

using namespace llvm;
using namespace adgen;

template <class Pass> static bool add(StringRef Name, StringRef Wanted, ModulePassManager &MPM) {
  if (Name != Wanted)
    return false;
  MPM.addPass(Pass());
  return true;
}

// "wanted<option>" or "wanted" alone.
template <class Pass>
static bool addWithOption(StringRef Name, StringRef Wanted, ModulePassManager &MPM) {
  if (!Name.consume_front(Wanted))
    return false;
  if (!Name.empty() && !(Name.consume_front("<") && Name.consume_back(">")))
    return false;
  MPM.addPass(Pass(Name));
  return true;
}

static bool parse(StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
  return add<Describe>(Name, "adgen-describe", MPM) ||
         addWithOption<UserRules>(Name, "adgen-user-rules", MPM) ||
         addWithOption<Select>(Name, "adgen-select", MPM) ||
         addWithOption<LinkDevice>(Name, "adgen-link", MPM) ||
         add<CanonicalizeNvvm>(Name, "adgen-canonicalize-nvvm", MPM) ||
         add<TranslateAssembly>(Name, "adgen-translate-assembly", MPM) ||
         add<ResolveCalls>(Name, "adgen-resolve-calls", MPM) ||
         add<RecogniseSums>(Name, "adgen-recognise-sums", MPM) ||
         add<SplitMath>(Name, "adgen-split-math", MPM) ||
         add<InlineMath>(Name, "adgen-inline-math", MPM) ||
         add<MarkMath>(Name, "adgen-mark-math", MPM) ||
         add<KeepMath>(Name, "adgen-keep-math", MPM) ||
         add<SplitLocals>(Name, "adgen-split-locals", MPM) ||
         addWithOption<FindSharedConstants>(Name, "adgen-shared-constants", MPM) ||
         addWithOption<ReplaceCooperation>(Name, "adgen-replace-cooperation", MPM) ||
         add<MakeRegions>(Name, "adgen-openmp-regions", MPM) ||
         add<ScheduleLoops>(Name, "adgen-openmp-schedules", MPM) ||
         add<SilenceStreams>(Name, "adgen-silence-streams", MPM) ||
         add<RewriteOpenMP>(Name, "adgen-rewrite-openmp", MPM) ||
         add<RefuseUnsupported>(Name, "adgen-refuse", MPM) ||
         addWithOption<ShadowVariables>(Name, "adgen-shadow-variables", MPM) ||
         add<ShadowStatics>(Name, "adgen-shadow-statics", MPM) ||
         addWithOption<MakeBodies>(Name, "adgen-bodies", MPM) ||
         addWithOption<CopyAtOnce>(Name, "adgen-copy-at-once", MPM) ||
         addWithOption<MakeGradients>(Name, "adgen-gradients", MPM) ||
         add<GuardChoices>(Name, "adgen-guard-choices", MPM) ||
         add<DiscardOutputs>(Name, "adgen-discard-outputs", MPM) ||
         addWithOption<MakeTangents>(Name, "adgen-tangents", MPM) ||
         add<TypeCopies>(Name, "adgen-type-copies", MPM) ||
         add<FollowBits>(Name, "adgen-follow-bits", MPM) ||
         add<ShowBits>(Name, "adgen-show-bits", MPM) ||
         add<PinRules>(Name, "adgen-pin-rules", MPM) ||
         add<StoreResults>(Name, "adgen-store-results", MPM) ||
         add<ForgetMethods>(Name, "adgen-forget-methods", MPM) ||
         add<UseResults>(Name, "adgen-use-results", MPM) ||
         add<SeeOverwrites>(Name, "adgen-see-overwrites", MPM) ||
         add<SeparateLoads>(Name, "adgen-separate-loads", MPM) ||
         add<HoldJoins>(Name, "adgen-hold-joins", MPM) ||
         add<HoldSums>(Name, "adgen-hold-sums", MPM) ||
         add<HoldExtremes>(Name, "adgen-hold-extremes", MPM) ||
         add<DefineValues>(Name, "adgen-define-values", MPM) ||
         add<SeparateCarried>(Name, "adgen-separate-carried", MPM) ||
         add<LoosenAlignments>(Name, "adgen-loosen-alignments", MPM) ||
         add<UnifyExits>(Name, "adgen-unify-exits", MPM) ||
         add<AskTogether>(Name, "adgen-ask-together", MPM) ||
         add<NestJoins>(Name, "adgen-nest-joins", MPM) ||
         add<HintTypes>(Name, "adgen-hint-types", MPM) ||
         add<KeepLoops>(Name, "adgen-keep-loops", MPM) ||
         add<FloorCounts>(Name, "adgen-floor-counts", MPM) ||
         add<CountHalvings>(Name, "adgen-count-halvings", MPM) ||
         add<SegmentRecurrences>(Name, "adgen-segment-recurrences", MPM) ||
         add<ReloadShared>(Name, "adgen-reload-shared", MPM) ||
         add<DeclareCopyAdjoints>(Name, "adgen-copy-adjoints", MPM) ||
         add<ExpandCopyAdjoints>(Name, "adgen-expand-copy-adjoints", MPM) ||
         add<AddAtomically>(Name, "adgen-add-atomically", MPM) ||
         add<UnrollLocals>(Name, "adgen-unroll-locals", MPM) ||
         add<IndexPointers>(Name, "adgen-index-pointers", MPM) ||
         add<HandOver>(Name, "adgen-hand-over", MPM) ||
         add<MarkConstants>(Name, "adgen-mark-constants", MPM) ||
         add<OutlineIterations>(Name, "adgen-outline-iterations", MPM) ||
         add<RestoreOverwritten>(Name, "adgen-restore-overwritten", MPM) ||
         add<LowerOverwrites>(Name, "adgen-lower-overwrites", MPM) ||
         add<RecomputeIterations>(Name, "adgen-recompute-iterations", MPM) ||
         add<OwnMemory>(Name, "adgen-own-memory", MPM) ||
         add<SumCaptured>(Name, "adgen-sum-captured", MPM) ||
         add<CaptureValues>(Name, "adgen-capture-values", MPM) ||
         add<VerifyGradients>(Name, "adgen-verify-gradients", MPM) ||
         addWithOption<MarkUnchanged>(Name, "adgen-mark-unchanged", MPM) ||
         add<CallRegions>(Name, "adgen-call-regions", MPM) ||
         add<ForwardRules>(Name, "adgen-forward-rules", MPM) ||
         add<ForgetResults>(Name, "adgen-forget-results", MPM) ||
         add<ForkRegions>(Name, "adgen-fork-regions", MPM) ||
         addWithOption<AdoptGradients>(Name, "adgen-adopt-gradients", MPM) ||
         addWithOption<LinkSeconds>(Name, "adgen-link-seconds", MPM) ||
         add<KeepOnce>(Name, "adgen-keep-once", MPM) ||
         add<LoadEarly>(Name, "adgen-load-early", MPM) ||
         add<ReloadInputs>(Name, "adgen-reload-inputs", MPM) ||
         add<RecordAccumulations>(Name, "adgen-record-accumulations", MPM) ||
         add<PairSines>(Name, "adgen-pair-sines", MPM) || add<QuickPowers>(Name, "adgen-quick-powers", MPM) ||
         add<ExchangeCotangents>(Name, "adgen-exchange-cotangents", MPM) ||
         add<ForgetGuards>(Name, "adgen-forget-guards", MPM) ||
         add<ExpandConstants>(Name, "adgen-expand-constants", MPM) ||
         add<PrintUsage>(Name, "adgen-usage", MPM) ||
         add<ExactFlags>(Name, "adgen-exact-flags", MPM) ||
         add<SizeTeams>(Name, "adgen-openmp-teams", MPM) ||
         add<RestoreMath>(Name, "adgen-restore-math", MPM) ||
         add<HostRules>(Name, "adgen-host-rules", MPM) ||
         add<LowerCooperation>(Name, "adgen-lower-cooperation", MPM) ||
         add<GuardHeap>(Name, "adgen-guard-heap", MPM) ||
         add<MakeKernels>(Name, "adgen-kernels", MPM) ||
         add<FuseSweeps>(Name, "adgen-fuse-sweeps", MPM) ||
         add<JoinBlocks>(Name, "adgen-join-blocks", MPM) ||
         add<Tape>(Name, "adgen-tape", MPM) ||
         add<MergeAccumulations>(Name, "adgen-merge-accumulations", MPM) ||
         add<OwnAccumulations>(Name, "adgen-own-accumulations", MPM) ||
         add<ShareReciprocals>(Name, "adgen-share-reciprocals", MPM) ||
         add<GatherAccumulations>(Name, "adgen-gather-accumulations", MPM) ||
         add<RotateAccumulations>(Name, "adgen-rotate-accumulations", MPM) ||
         add<ReduceAccumulations>(Name, "adgen-reduce-accumulations", MPM) ||
         add<ZeroLast>(Name, "adgen-zero-last", MPM) ||
         add<VerifyDevice>(Name, "adgen-verify-device", MPM) ||
         add<RoundDirected>(Name, "adgen-round-directed", MPM) ||
         addWithOption<RetargetAmd>(Name, "adgen-retarget-amd", MPM) ||
         addWithOption<RetargetHost>(Name, "adgen-retarget-host", MPM) ||
         add<KeepMemory>(Name, "adgen-keep-memory", MPM) ||
         add<MakeHostEntries>(Name, "adgen-host-entries", MPM) ||
         add<StripDebug>(Name, "adgen-strip-debug", MPM) ||
         add<SplitThreads>(Name, "adgen-split-threads", MPM) ||
         add<ClampLoops>(Name, "adgen-clamp-loops", MPM) ||
         add<SkipZeros>(Name, "adgen-skip-zeros", MPM) ||
         add<RecomputeKept>(Name, "adgen-recompute-kept", MPM) ||
         add<KeepResults>(Name, "adgen-keep-results", MPM) ||
         add<SumThreads>(Name, "adgen-sum-threads", MPM) ||
         add<PartAdditions>(Name, "adgen-part-additions", MPM) ||
         addWithOption<VectorMath>(Name, "adgen-vector-math", MPM);
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "adgen", "1", [](PassBuilder &PB) {
            PB.registerPipelineParsingCallback(parse);
          }};
}
