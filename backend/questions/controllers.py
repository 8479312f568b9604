"""Ask for name servers and controllers."""

from backend.domain.access import Reach
from backend.domain.name_server import NameServerStatus
from backend.domain.operation_approval import SecondPerson
from backend.questions.question import question
from backend.services.controller.controllers import describe_controller
from backend.services.controller.group_changes import Controller
from backend.views.controllers import ControllerOut, NameServerOut


@question("/controllers", field="controllers", tag="replica groups", reach=Reach.CONTROL_PLANE)
async def show_controllers(
    *, name_server: NameServerStatus, controller: Controller, second_person: SecondPerson
) -> list[ControllerOut]:
    """Describe the controller of this process, as a list of one."""
    found = await describe_controller(name_server.address, controller, second_person=second_person)
    return [ControllerOut.of(found)]


@question(
    None,
    field="nameServers",
    tag="clusters",
    reach=Reach.CONTROL_PLANE,
    why_not="metrics have the same figures",
)
async def show_name_servers(*, name_server: NameServerStatus) -> list[NameServerOut]:
    """Describe the name server of this process, as a list of one."""
    return [NameServerOut.of(name_server)]
