/** How far the move of one logical queue is; the steps in their order. */
export const moveSteps = ['PLANNED', 'PREPARED', 'SEALED', 'DECIDED', 'ACTIVE'] as const;
export type MoveStep = (typeof moveSteps)[number];

/** The move of one logical queue; its broker groups are null where a plan did not keep them. */
export type QueueMove = {
  globalId: number;
  sourceName: string | null;
  destinationName: string | null;
  step: MoveStep;
};

export function movedCount(moves: readonly QueueMove[]): number {
  return moves.filter(({ step }) => step === 'ACTIVE').length;
}

/** How many queues are at each step that any is at. */
export function countsByStep(moves: readonly QueueMove[]): { step: MoveStep; count: number }[] {
  return moveSteps
    .map((step) => ({ step, count: moves.filter((one) => one.step === step).length }))
    .filter(({ count }) => count > 0);
}
