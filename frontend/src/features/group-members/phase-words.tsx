import type { GroupMember } from './group-member';
import { PhaseMark } from './phase-mark';
import classes from './phase-words.module.css';

/** What a broker does, what it waits for, and what to do about that. */
export function PhaseWords({ member }: { member: GroupMember }) {
  return (
    <div className={classes.words}>
      <PhaseMark phase={member.phase} />
      <span>{member.explanation}</span>
      {member.nextStep === null ? null : <span>{member.nextStep}</span>}
    </div>
  );
}
