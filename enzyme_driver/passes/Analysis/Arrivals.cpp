#include "Analysis/Arrivals.h"

#include "Analysis/Indices.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

constexpr unsigned LastSource = 63;

// What is written to which address. `Adds` where the order of additions, or of maxima, does not matter.
struct Arrivals::Write {
  const Instruction *I;
  const Value *Address;
  const Value *Stored; // null for what is copied from memory
  const Value *Copied = nullptr;
  bool Adds = false;
};

static SmallVector<const Value *> memoryOf(const Value *Address) {
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(Address, Objects, nullptr, /*MaxLookup=*/0);
  for (const Value *&Object : Objects)
    if (!isa<Argument, GlobalVariable, AllocaInst, LoadInst>(Object))
      Object = nullptr;
  return Objects;
}

static bool isOfBlock(const Value *Memory) { return Memory && isSharedMemory(*Memory); }

static bool isCommutative(AtomicRMWInst::BinOp Operation) {
  return Operation != AtomicRMWInst::Xchg && Operation != AtomicRMWInst::Nand && Operation != AtomicRMWInst::FSub;
}

// Whether the address belongs to one thread, of the block or of the grid: then nobody comes before it.
static bool isOwn(const Value *Address, Indices &Numbers) {
  for (const Value *Memory : memoryOf(Address)) {
    std::optional<Polynomial> P = Memory ? Numbers.offsetFrom(Memory, Address) : std::nullopt;
    if (!P)
      return false;
    const int64_t Step = P->take({onAxis(Source::Thread, 0)});
    const int64_t Blocks = P->take({onAxis(Source::Block, 0), onAxis(Source::BlockSize, 0)});
    if (!Step || (!isOfBlock(Memory) && Blocks != Step) ||
        any_of(P->Terms, [](const auto &Term) { return !Term.first.empty(); }))
      return false;
  }
  return true;
}

// Adding nothing, or exchanging a number with itself, only reads.
static bool onlyReads(const Instruction &I) {
  if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return Swap->getCompareOperand() == Swap->getNewValOperand();
  auto &Atomic = cast<AtomicRMWInst>(I);
  auto *Neutral = ConstantExpr::getBinOpIdentity(Instruction::Add, Atomic.getType(), /*AllowRHSConstant=*/true);
  bool Sums = is_contained({AtomicRMWInst::Add, AtomicRMWInst::Sub, AtomicRMWInst::Or, AtomicRMWInst::Xor},
                           Atomic.getOperation());
  return Sums && Atomic.getValOperand() == Neutral;
}

Arrivals::Arrivals(Function &Body, const Argument *Queue) : ReadsQueue(Queue) {
  findSources(Body);
  if (Queue)
    Contents[Queue].FoundInGrid = Facts::Atomics(1) << LastSource;
  else if (Sources.empty())
    return;
  findBranches(Body);
  findReductions(Body);
  while (step(Body))
    ;
}

void Arrivals::findSources(Function &Body) {
  DominatorTree Tree(Body);
  LoopInfo Loops(Tree);
  Indices Numbers(Body, Loops);
  for (Instruction &I : instructions(Body)) {
    if (writeOf(I))
      Writes.push_back(&I);
    bool Answers = (isa<AtomicRMWInst>(I) && I.getType()->isIntegerTy()) || isa<AtomicCmpXchgInst>(I);
    const Value *Address = isa<AtomicRMWInst>(I) ? cast<AtomicRMWInst>(I).getPointerOperand()
                           : Answers             ? cast<AtomicCmpXchgInst>(I).getPointerOperand()
                                                 : nullptr;
    if (Answers && !I.use_empty() && !onlyReads(I) && !isOwn(Address, Numbers))
      Sources.insert({&I, std::min<unsigned>(Sources.size(), LastSource)});
  }
}

using Blocks = SmallSetVector<const BasicBlock *, 16>;

static Blocks reachedBefore(const BasicBlock *From, const BasicBlock *Meeting) {
  Blocks Found;
  SmallVector<const BasicBlock *> Next{From};
  while (!Next.empty())
    if (const BasicBlock *To = Next.pop_back_val(); To != Meeting && Found.insert(To))
      append_range(Next, successors(To));
  return Found;
}

// Where ways from the end of the block meet, and where loops begin that it may leave: what is chosen or counted there
// tells which way was taken.
static Blocks tellingWays(const BasicBlock &Block, const BasicBlock *Meeting, const LoopInfo &Loops) {
  Blocks Found, Seen;
  if (Meeting)
    Found.insert(Meeting);
  for (const BasicBlock *To : Blocks(succ_begin(&Block), succ_end(&Block))) {
    for (const BasicBlock *Each : reachedBefore(To, Meeting))
      if (!Seen.insert(Each))
        Found.insert(Each);
    for (const Loop *L = Loops.getLoopFor(&Block); L; L = L->getParentLoop())
      if (!L->contains(To))
        Found.insert(L->getHeader());
  }
  return Found;
}

void Arrivals::findBranches(Function &Body) {
  DominatorTree Dominators(Body);
  LoopInfo Loops(Dominators);
  PostDominatorTree Tree(Body);
  for (const BasicBlock &Block : Body) {
    const Instruction *End = Block.getTerminator();
    if (End->getNumSuccessors() < 2 || isa<Constant>(End->getOperand(0)))
      continue;
    auto *Node = Tree.getNode(&Block);
    const BasicBlock *Meeting = Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
    Branch Found{End->getOperand(0), {}, {}};
    for (const BasicBlock *To : successors(&Block))
      append_range(Found.Between, reachedBefore(To, Meeting));
    for (const BasicBlock *Join : tellingWays(Block, Meeting, Loops))
      for (const PHINode &Phi : Join->phis())
        if (!Phi.hasConstantOrUndefValue())
          Found.Joins.push_back(&Phi);
    Branches.push_back(std::move(Found));
  }
}

// Whether it runs so many times, however many there are to read.
static bool endsByNumber(const Loop &L) {
  SmallVector<BasicBlock *> Ends;
  L.getExitingBlocks(Ends);
  return any_of(Ends, [](const BasicBlock *End) {
    auto *Test = dyn_cast<ICmpInst>(End->getTerminator()->getOperand(0));
    return Test && any_of(Test->operands(), IsaPred<Constant>);
  });
}

// Whether it runs as often as a number in memory says, such as that of a cell's entries.
static bool endsByMemory(const Loop &L) {
  SmallVector<BasicBlock *> Ends;
  L.getExitingBlocks(Ends);
  return all_of(Ends, [](const BasicBlock *End) {
    auto *Test = dyn_cast<ICmpInst>(End->getTerminator()->getOperand(0));
    return Test && any_of(Test->operands(), [](const Value *V) {
             auto *Cast = dyn_cast<CastInst>(V);
             return isa<LoadInst>(Cast ? Cast->getOperand(0) : V);
           });
  });
}

void Arrivals::findReductions(Function &Body) {
  DominatorTree Tree(Body);
  LoopInfo Loops(Tree);
  for (const Instruction &I : instructions(Body)) {
    const Loop *Around = Loops.getLoopFor(I.getParent());
    auto *Phi = dyn_cast<PHINode>(&I);
    const Instruction *Each = Phi && Around && Around->getHeader() == I.getParent() ? madeInLoop(*Phi) : nullptr;
    if (Each && (addsUpLanes(*Each) || !endsByNumber(*Around)))
      Sums.insert({Phi, addsUpLanes(*Each) ? nullptr : Each});
    if (Each && endsByMemory(*Around))
      Segments.insert(Phi);
    if (addsUpLanes(I))
      Sums.insert({&I, nullptr});
    auto *Store = dyn_cast<StoreInst>(&I);
    auto *Sum = Store && Around ? dyn_cast<Instruction>(Store->getValueOperand()) : nullptr;
    if (!Sum || !addsUp(*Sum) || !all_of(Sum->operands(), [](const Use &V) { return isa<LoadInst, Function>(V); }))
      continue;
    for (const Value *Memory : memoryOf(Store->getPointerOperand()))
      if (all_of(Sum->operands(), [&](const Value *V) {
            auto *Load = dyn_cast<LoadInst>(V);
            return !Load || is_contained(memoryOf(Load->getPointerOperand()), Memory);
          }))
        Reduced.insert(Memory);
  }
}

bool Arrivals::step(Function &Body) {
  bool Changed = false;
  for (const Branch &B : Branches) {
    const Facts Why = of(B.Condition);
    for (const BasicBlock *Block : B.Between)
      Ways[Block] = Ways[Block] | Why.inOrder();
    for (const PHINode *Phi : B.Joins)
      Chosen[Phi] = Chosen[Phi] | Why;
  }
  for (const Instruction &I : instructions(Body)) {
    if (I.getType()->isVoidTy())
      continue;
    Facts More = of(&I) | transfer(I, [&](const Value *V) { return of(V); });
    Changed |= !(More == of(&I));
    Known[&I] = More;
  }
  for (const Instruction *I : Writes) {
    const Write W = *writeOf(*I);
    for (const Value *Memory : memoryOf(W.Address))
      Changed |= remember(Memory, leftBy(W));
  }
  return Changed;
}

bool Arrivals::remember(const Value *Memory, const Facts &More) {
  Facts &There = Contents[Memory];
  const Facts Before = There;
  There = There | More;
  return !(There == Before);
}

Facts Arrivals::ofOperands(const Instruction &I, Look Of) const {
  Facts Found;
  for (const Value *V : I.operands())
    Found = Found | Of(V);
  return Found;
}

Facts Arrivals::transfer(const Instruction &I, Look Of) const {
  Facts Found;
  if (auto Source = Sources.find(&I); Source != Sources.end()) {
    Found.ByThread = Facts::Atomics(1) << Source->second;
    return Found | Of(I.getOperand(0));
  }
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return ofLoad(*Load->getPointerOperand(), Of);
  if (auto *Call = dyn_cast<CallBase>(&I))
    Found = ofCall(*Call, Of);
  else if (auto Part = partOfThreadNumber(I))
    Found.Identity = *Part;
  else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
    Found = ofLoad(*I.getOperand(0), Of);
  else
    Found = ofOperands(I, Of);
  if (auto *Phi = dyn_cast<PHINode>(&I))
    Found = Found | Chosen.lookup(Phi);
  if (Found.found() && isOfAll(&I))
    Found.FoundInBlock = Found.FoundInGrid = 0;
  return Found;
}

// Whether each thread adds up the same of what was found, whatever its place, or a warp's lanes together. Of what was
// queued before the launch, also whether each adds up a part that was filled by itself, such as the entries of a cell.
bool Arrivals::isOfAll(const Value *Sum) const {
  auto Known = Sums.find(Sum);
  if (Known == Sums.end() || !Known->second)
    return Known != Sums.end();
  Values Given{Sum};
  for (const Value *V : slice(Known->second, Given))
    if (auto *Load = dyn_cast<LoadInst>(V); Load && of(Load).found()) {
      bool ByThread = of(Load->getPointerOperand()).Identity & (Facts::Lane | Facts::Warp);
      if (ByThread && !(ReadsQueue && Segments.contains(Sum)))
        return false;
      Given.insert(Load);
    }
  const BasicBlock *Header = cast<PHINode>(Sum)->getParent();
  return none_of(slice(Known->second, Given),
                 [&](const Value *V) { return isa<PHINode>(V) && cast<PHINode>(V)->getParent() == Header; });
}

Facts Arrivals::ofCall(const CallBase &Call, Look Of) const {
  Facts Found;
  const Function *Callee = Call.getCalledFunction();
  StringRef Name = Callee ? Callee->getName() : "";
  if (auto Register = registerOf(&Call)) {
    Found.Identity = Register->starts_with("tid.")                                    ? Facts::Lane | Facts::Warp
                     : Register->starts_with("lane")                                  ? Facts::Lane
                     : Register->starts_with("warpid")                                ? Facts::Warp
                     : Register->starts_with("ctaid.")                                ? Facts::Block
                     : Register->starts_with("n") || Register->starts_with("dynamic") ? 0
                                                                                      : Facts::Anyone;
    return Found;
  }
  if (isShuffle(&Call))
    return ofShuffle(Call, Of);
  Found = ofOperands(Call, Of);
  if (Name == "llvm.nvvm.activemask")
    Found.Identity = Facts::Warp | Facts::Block;
  else if (Name.starts_with("llvm.nvvm.vote.") || Name.starts_with("llvm.nvvm.redux."))
    return Found.sameInWarp();
  else if (Name.starts_with("llvm.nvvm.barrier"))
    return Found.sameInBlock();
  else if (Callee && !Callee->isIntrinsic() && !Call.doesNotAccessMemory() && !Callee->hasFnAttribute(MathAttribute))
    Found.Identity = Facts::Anyone;
  return Found;
}

// What is read from a lane that is the same for all is the same in all.
Facts Arrivals::ofShuffle(const CallBase &Call, Look Of) const {
  const Facts Which = Of(Call.getArgOperand(2));
  const Facts Value = Of(Call.getArgOperand(1));
  bool Whole = match(Call.getArgOperand(3), m_SpecificInt(LanesOfWarp - 1));
  bool ByNumber = Call.getCalledFunction()->getName().contains(".idx.");
  bool Same = ByNumber && Whole && !(Which.Identity & Facts::Lane) && !Which.ByThread;
  return Same ? Value.sameInWarp() | Which : Value | Which;
}

// What threads have left in the order of their arrival belongs to no place: where it was found does not matter.
Facts Arrivals::ofLoad(const Value &Address, Look Of) const {
  const Facts At = Of(&Address);
  Facts There;
  for (const Value *Memory : memoryOf(&Address)) {
    Facts Left = Contents.lookup(Memory);
    if (Left.found() && Reduced.contains(Memory) && !(At.Identity & (Facts::Lane | Facts::Warp)))
      Left.FoundInBlock = Left.FoundInGrid = Left.Identity = 0;
    There = There | Left;
  }
  return There.found() ? (There | At).inOrder() : There | At;
}

std::optional<Arrivals::Write> Arrivals::writeOf(const Instruction &I) const {
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Write{&I, Store->getPointerOperand(), Store->getValueOperand()};
  if (auto *Copy = dyn_cast<MemTransferInst>(&I))
    return Write{&I, Copy->getRawDest(), nullptr, Copy->getRawSource()};
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
    return Write{&I, Atomic->getPointerOperand(), Atomic->getValOperand(), nullptr,
                 isCommutative(Atomic->getOperation())};
  if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return Write{&I, Swap->getPointerOperand(), Swap->getNewValOperand()};
  return std::nullopt;
}

// The numbers of an address that follow the order and say alone which element it is.
void Arrivals::cutAddress(const Value *V, Values &Cut) const {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !of(I).followsOrder() || !Cut.insert(I).second)
    return;
  bool Linear = isa<GetElementPtrInst, CastInst>(I) ||
                is_contained({Instruction::Add, Instruction::Sub, Instruction::Mul, Instruction::Shl, Instruction::Or},
                             I->getOpcode());
  bool Alone = count_if(I->operands(), [&](const Value *Part) { return of(Part).followsOrder(); }) == 1;
  if (Linear && Alone)
    for (const Value *Part : I->operands())
      cutAddress(Part, Cut);
}

// All that the value is computed from.
Arrivals::Values Arrivals::slice(const Value *V, const Values &Cut) const {
  Values Found;
  SmallVector<const Value *> Work{V};
  while (!Work.empty()) {
    auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (I && !Cut.contains(I) && Found.insert(I).second)
      append_range(Work, I->operand_values());
  }
  return Found;
}

// The facts where what is cut is given.
Facts Arrivals::without(const Value *V, const Values &Cut) const {
  const Values Part = slice(V, Cut);
  DenseMap<const Value *, Facts> Own;
  auto Look = [&](const Value *Each) { return Own.lookup(Each); };
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const Value *Each : Part) {
      Facts More = Own.lookup(Each) | transfer(*cast<Instruction>(Each), Look);
      Changed |= !(More == Own.lookup(Each));
      Own[Each] = More;
    }
  }
  return Own.lookup(V);
}

// The indices by which it reads what threads have left in the order of their arrival.
Arrivals::Values Arrivals::indicesFound(const Values &Slice) const {
  Values Found;
  for (const Value *V : Slice) {
    auto *Load = dyn_cast<LoadInst>(V);
    if (!Load || !of(Load).found())
      continue;
    auto *Step = dyn_cast<GetElementPtrInst>(Load->getPointerOperand());
    const Value *Index = Step ? Step->getOperand(Step->getNumOperands() - 1) : Load->getPointerOperand();
    while (auto *Cast = dyn_cast<CastInst>(Index))
      Index = Cast->getOperand(0);
    Found.insert(Index);
  }
  return Found;
}

// Whether memory holds the same afterwards for every order; `Stored` becomes what the value depends on where the
// element is given.
bool Arrivals::isSameForEveryOrder(const Write &W, Facts &Stored) const {
  const Facts At = of(W.Address), Why = Ways.lookup(W.I->getParent());
  const Value *From = W.Stored ? W.Stored : W.Copied;
  auto Whole = [&](const Facts &F) { return W.Stored ? F : ofLoad(*W.Copied, [&](const Value *) { return F; }); };
  Stored = Whole(of(From));
  if (!At.followsOrder() && !Why.followsOrder() && !Stored.followsOrder())
    return true;
  Values Cut;
  cutAddress(W.Address, Cut);
  Stored = Whole(without(From, Cut));
  const unsigned Who = Stored.Identity | (At.followsOrder() ? 0u : At.Identity);
  if ((At | Why | Stored).mixes(Who))
    return false;
  if (Stored.found()) {
    Values Read = indicesFound(slice(From, Cut));
    Values ForAddress = indicesFound(slice(W.Address, {}));
    Read.insert(ForAddress.begin(), ForAddress.end());
    return (W.Adds || (Stored.found() & ~At.found()) == 0) && Read.size() <= 1;
  }
  const Facts::Atomics Followed = W.Adds ? (At | Why | Stored).answers() : (At | Stored).answers();
  bool OfAddress = W.Adds || (!Stored.ByThread && (Stored.answers() & ~At.answers()) == 0);
  return !Stored.answers() || (OfAddress && isPowerOf2_64(Followed) && Followed >> LastSource == 0);
}

// What memory depends on afterwards. One thread's answer that all threads of a block or a warp read is theirs.
Facts Arrivals::leftBy(const Write &W) const {
  const Facts At = of(W.Address);
  const SmallVector<const Value *> Memory = memoryOf(W.Address);
  Facts Stored;
  bool Shared = all_of(Memory, isOfBlock);
  if (const Facts Order = At | Ways.lookup(W.I->getParent()) | of(W.Stored ? W.Stored : W.Copied);
      Shared && W.Stored && !Order.ByThread && !Order.ByWarp && !Order.found()) // the same for the whole block
    return of(W.Stored) | Order.inOrder();
  if (Shared && W.Stored && !W.Adds && !isa<AtomicCmpXchgInst>(W.I) && !At.followsOrder()) {
    if (!(At.Identity & (Facts::Lane | Facts::Warp)))
      return of(W.Stored).sameInBlock();
    if (!(At.Identity & Facts::Lane))
      return of(W.Stored).sameInWarp();
  }
  if (isSameForEveryOrder(W, Stored))
    return Stored;
  if (all_of(Memory, [](const Value *Object) { return isa_and_nonnull<AllocaInst>(Object); }))
    return Stored | At.inOrder();
  const Facts Order = At | Ways.lookup(W.I->getParent()) | Stored;
  (Shared ? Stored.FoundInBlock : Stored.FoundInGrid) |= Order.answers() | Order.found();
  return Stored;
}

void Arrivals::reportUnordered(Report Say) const {
  for (const Instruction *I : Writes) {
    const Write W = *writeOf(*I);
    Facts Stored;
    if (isSameForEveryOrder(W, Stored))
      continue;
    for (const Value *Memory : memoryOf(W.Address))
      if (!isOfBlock(Memory) && !isa_and_nonnull<AllocaInst>(Memory))
        Say(*const_cast<Instruction *>(I), Memory);
  }
}

} // namespace adgen
