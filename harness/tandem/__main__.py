from tandem.commands.main import main

main()
