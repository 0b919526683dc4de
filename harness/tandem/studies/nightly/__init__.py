"""Did an implementation change since its image was frozen?"""
