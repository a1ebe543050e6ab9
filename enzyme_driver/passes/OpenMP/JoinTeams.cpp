// A league of teams, which `teams` starts, is one team here, as it may be: the thread that meets it calls what the
// runtime would have each team run, what is distributed over the teams is that team's, and a reduction among teams
// combines once. Where a limit of threads is given and the module asks for threads' numbers, teams stay, and are
// refused: arrays with an element a thread may have no more elements than that.
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "adgen-join-teams"

using namespace llvm;

STATISTIC(NumJoined, "Number of leagues that are one team");

namespace adgen {
namespace {

constexpr StringLiteral LeagueName = "__kmpc_fork_teams";
constexpr int64_t DistributeChunked = 91, Distribute = 92; // kmp.h: sched_type

bool isPush(const Function *F) { return F && F->getName().starts_with("__kmpc_push_num_teams"); }

// What says how many teams and threads the league may have.
CallInst *requestOf(CallInst &League) {
  for (Instruction *I = League.getPrevNode(); I; I = I->getPrevNode())
    if (auto *Call = dyn_cast<CallInst>(I); Call && Call->getCalledFunction()) {
      if (isPush(Call->getCalledFunction()))
        return Call;
      if (Call->getCalledFunction()->getName() == LeagueName)
        return nullptr;
    }
  return nullptr;
}

bool asksForNumbers(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && (Callee->getName() == "omp_get_thread_num" || Callee->getName() == "omp_get_num_threads");
}

bool mayBeOne(const CallInst *Request, const Function &Team) {
  auto *Limit = Request ? dyn_cast<ConstantInt>(Request->getArgOperand(Request->arg_size() - 1)) : nullptr;
  return !Request || (Limit && Limit->isZero()) || !firstReached(Team, asksForNumbers);
}

// init(place, thread, schedule, &last, &lower, &upper, &stride, increment, chunk): all of it is this team's.
void takeAll(CallInst &Init) {
  IRBuilder<> B(&Init);
  Type *Number = Init.getArgOperand(7)->getType();
  Value *Lower = B.CreateLoad(Number, Init.getArgOperand(4)), *Upper = B.CreateLoad(Number, Init.getArgOperand(5));
  B.CreateStore(B.CreateAdd(B.CreateSub(Upper, Lower), ConstantInt::get(Number, 1)), Init.getArgOperand(6));
  B.CreateStore(B.getInt32(1), Init.getArgOperand(3));
  Init.eraseFromParent();
}

void distribute(Function &Team) {
  for (StringRef Width : {"4", "4u", "8", "8u"})
    for (CallInst *Init : callsOf(*Team.getParent(), ("__kmpc_for_static_init_" + Width).str())) {
      auto *Kind = dyn_cast<ConstantInt>(Init->getArgOperand(2));
      if (Init->getFunction() == &Team && Kind && is_contained({DistributeChunked, Distribute}, Kind->getSExtValue()))
        takeAll(*Init);
    }
}

// The runtime's answer says how to combine; 1 is plainly, by one thread.
void combineOnce(Function &Team) {
  SmallVector<CallInst *> Begins, Ends;
  for (Instruction &I : instructions(Team))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->getCalledFunction()) {
      StringRef Name = Call->getCalledFunction()->getName();
      if (Name == "__kmpc_reduce" || Name == "__kmpc_reduce_nowait")
        Begins.push_back(Call);
      if (Name == "__kmpc_end_reduce" || Name == "__kmpc_end_reduce_nowait")
        Ends.push_back(Call);
    }
  for (CallInst *Call : Ends)
    Call->eraseFromParent();
  for (CallInst *Call : Begins) {
    Call->replaceAllUsesWith(ConstantInt::get(Call->getType(), 1));
    Call->eraseFromParent();
  }
  for (BasicBlock &Block : Team)
    ConstantFoldTerminator(&Block);
  removeUnreachableBlocks(Team);
}

void callOnce(CallInst &Fork, Function &Team) {
  IRBuilder<> Entry(&*Fork.getFunction()->getEntryBlock().getFirstInsertionPt());
  Value *Number = Entry.CreateAlloca(Entry.getInt32Ty(), nullptr, "team");
  IRBuilder<> B(&Fork);
  B.CreateStore(B.getInt32(0), Number);
  SmallVector<Value *> Arguments{Number, Number};
  append_range(Arguments, drop_begin(Fork.args(), ForkCaptured));
  B.CreateCall(&Team, Arguments)->setDebugLoc(Fork.getDebugLoc());
  Fork.eraseFromParent();
}

} // namespace

ADGEN_DECLARE_PASS(JoinTeams);

PreservedAnalyses JoinTeams::run(Module &M, ModuleAnalysisManager &) {
  SmallSetVector<Function *, 8> Teams;
  for (CallInst *League : callsOf(M, LeagueName)) {
    auto *Team = dyn_cast<Function>(League->getArgOperand(ForkFunction));
    CallInst *Request = requestOf(*League);
    if (!Team || Team->isDeclaration() || !mayBeOne(Request, *Team))
      continue;
    callOnce(*League, *Team);
    if (Request)
      Request->eraseFromParent();
    Teams.insert(Team);
    ADGEN_COUNT(NumJoined, Team->getName());
  }
  for (Function *Team : Teams) {
    distribute(*Team);
    combineOnce(*Team);
    Team->addFnAttr(Attribute::AlwaysInline);
  }
  return Teams.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace adgen
